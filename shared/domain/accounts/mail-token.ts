/** `disown-account`: shown by the page of a verified address, not emailed. */
export type MailTokenPurpose = 'verify-email' | 'password-reset' | 'disown-account';

/** The reset token expires sooner because it gives access to the account. */
export const mailTokenLifetimeMs: Readonly<Record<MailTokenPurpose, number>> = {
  'verify-email': 24 * 3_600_000,
  'password-reset': 3_600_000,
  'disown-account': 24 * 3_600_000,
};

/**
 * A single-use token sent by email that proves control of the mailbox. It is bound to its purpose, its account and
 * the address. A new token replaces the account's earlier one with the same purpose. Only its hash is stored.
 */
export interface MailToken {
  readonly id: string;
  readonly version: number;
  readonly purpose: MailTokenPurpose;
  readonly userId: string;
  readonly email: string;
  /** SHA-256, hex; unique. */
  readonly tokenHash: string;
  readonly expiresAt: number;
}
