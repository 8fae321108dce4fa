/** How long the former address can undo a change. */
export const addressChangeUndoMs = 7 * 24 * 3_600_000;

/** A change of an account's email address that its former address can undo. Times are milliseconds since the epoch. */
export interface AddressChange {
  readonly id: string;
  readonly version: number;
  readonly userId: string;
  readonly oldEmail: string;
  /** The password hash before the change; null without a password. */
  readonly passwordHash: string | null;
  readonly changedAt: number;
  /** SHA-256 of the token in the notice to the former address, hex; null until it is sent. */
  readonly tokenHash: string | null;
}
