import type { MailKind } from '@tocsin/shared/domain/accounts/mail-job.ts';
import type { Mail } from './templates/mail.ts';

/** A way for mails to leave. */
export interface Mailer {
  /** Resolves once the mail is in other hands. Throws Discard when no retry can help, else what a retry may cure. */
  send(kind: MailKind, mail: Mail): Promise<void>;
  close(): void;
}

/** What every mail carries: no one answers it, and no auto-responder should (RFC 3834). Texts of users are never headers. */
export const mailHeaders = { 'Auto-Submitted': 'auto-generated' } as const;
