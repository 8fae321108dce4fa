import type { MailKind } from '@tocsin/shared/domain/accounts/mail-job.ts';
import type { Mail } from './templates/mail.ts';

/** Sends emails. */
export interface Mailer {
  /** Resolves once the email was handed over. Throws Discard if a retry cannot help, and other errors if it can. */
  send(kind: MailKind, mail: Mail): Promise<void>;
  close(): void | Promise<void>;
}

/** Headers of every email: they suppress auto-responses (RFC 3834). User content never becomes a header. */
export const mailHeaders = { 'Auto-Submitted': 'auto-generated' } as const;
