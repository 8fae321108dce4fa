import { Discard } from '@tocsin/shared/ports/job-queue.ts';
import { createTransport } from 'nodemailer';
import { mailHeaders, type Mailer } from './mailer.ts';

/** A slower server counts as unavailable; the job is retried. */
const connectionTimeoutMs = 10_000;
const silenceTimeoutMs = 30_000;

/** Opens connections to a mail server on demand. */
export function openTransport({ url, connections }: { url: string; connections: number }) {
  return createTransport({
    url,
    pool: true,
    maxConnections: connections,
    maxRequeues: 0,
    connectionTimeout: connectionTimeoutMs,
    greetingTimeout: connectionTimeoutMs,
    socketTimeout: silenceTimeoutMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
}

/**
 * Sends over SMTP: `smtp://` (with STARTTLS if offered; `?requireTLS=true` requires it) or `smtps://`.
 * Discards emails that the server rejects permanently; other failures are retried.
 */
export function openSmtpMailer(options: { url: string; from: string; connections: number }): Mailer {
  const transport = openTransport(options);
  return {
    async send(_kind, mail) {
      const { to, subject, text, html } = mail;
      try {
        await transport.sendMail({ from: options.from, to, subject, text, html, headers: mailHeaders });
      } catch (error) {
        throw isRefusal(error) ? new Discard('the mail server rejected this email permanently', error) : error;
      }
    },
    close: () => transport.close(),
  };
}

/**
 * RFC 5321 §4.2.1: a 5yz reply is permanent. A rejected login is a configuration fault and does not concern the email.
 */
function isRefusal(error: unknown): boolean {
  const { code, responseCode } = error as { code?: unknown; responseCode?: unknown };
  return (code === 'EENVELOPE' || code === 'EMESSAGE') && typeof responseCode === 'number' && responseCode >= 500;
}
