export type MailTokenPurpose = 'verify-email' | 'password-reset';

/** Hours and not days for the reset: it opens the account. */
export const mailTokenLifetimeMs: Readonly<Record<MailTokenPurpose, number>> = {
  'verify-email': 24 * 3_600_000,
  'password-reset': 3_600_000,
};

/**
 * A token that was mailed: proof of the mailbox, good once. It is bound to its purpose, its account and the address it
 * was sent to. An account has one of each purpose: a newer one takes the older's place. Only its hash is stored.
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
