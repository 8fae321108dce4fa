/**
 * A change of an account's email address, stored until the old address is notified. Times are milliseconds since the
 * epoch.
 */
export interface AddressChange {
  readonly id: string;
  readonly version: number;
  readonly userId: string;
  readonly oldEmail: string;
  readonly changedAt: number;
}
