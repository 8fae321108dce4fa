import type { Deliveries, Delivery } from '@tocsin/shared/ports/deliveries.ts';

/** Rows per lookup in the ledger. */
const devicesAtOnce = 1_000;

/** Pages of the rows under a key of the ledger, for these devices. */
export async function* ledgerRows(
  deliveries: Pick<Deliveries, 'find'>,
  key: string,
  deviceIds: readonly string[],
): AsyncGenerator<Delivery[], void> {
  for (let start = 0; start < deviceIds.length; start += devicesAtOnce) {
    const asked = deviceIds.slice(start, start + devicesAtOnce);
    yield await deliveries.find(key, { deviceIds: asked, limit: asked.length });
  }
}
