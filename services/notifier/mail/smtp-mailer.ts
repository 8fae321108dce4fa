import { Discard } from '@tocsin/shared/ports/job-queue.ts';
import { createTransport } from 'nodemailer';
import { mailHeaders, type Mailer } from './mailer.ts';

/** A server that is slower than this counts as away; the job tries again. */
const connectionTimeoutMs = 10_000;
const silenceTimeoutMs = 30_000;

/** The connections to a mail server; each is made when it is needed. */
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
 * Sends over SMTP, `smtp://` (with STARTTLS where the server offers it; `?requireTLS=true` insists) or `smtps://`.
 * A recipient or message that the server refuses for good is discarded; anything else is worth a retry.
 */
export function openSmtpMailer(options: { url: string; from: string; connections: number }): Mailer {
  const transport = openTransport(options);
  return {
    async send(_kind, mail) {
      const { to, subject, text, html } = mail;
      try {
        await transport.sendMail({ from: options.from, to, subject, text, html, headers: mailHeaders });
      } catch (error) {
        throw isRefusal(error) ? new Discard('the mail server refuses this mail for good', error) : error;
      }
    },
    close: () => transport.close(),
  };
}

/** RFC 5321 §4.2.1: a 5yz reply is final. One to the login is the operator's to cure, and says nothing of the mail. */
function isRefusal(error: unknown): boolean {
  const { code, responseCode } = error as { code?: unknown; responseCode?: unknown };
  return (code === 'EENVELOPE' || code === 'EMESSAGE') && typeof responseCode === 'number' && responseCode >= 500;
}
