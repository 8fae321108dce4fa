/** That an account left an address: kept until the old address was told. Times are milliseconds since the epoch. */
export interface AddressChange {
  readonly id: string;
  readonly version: number;
  readonly userId: string;
  readonly oldEmail: string;
  readonly changedAt: number;
}
