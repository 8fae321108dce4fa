import { addressChanges } from '@tocsin/shared/collections/address-changes.ts';
import { removeOlder } from './sweep/remove-older.ts';
import type { RetentionDeps, SweepLimit, SweepReport } from './sweep/retention-deps.ts';

/** Longer than the retries of a notice to the former address, including outages. */
const keptMs = 7 * 86_400_000;

/** Removes former addresses whose notice was never sent: rate-limited, rejected, or the account was disabled. */
export function removeAddressChanges(deps: RetentionDeps, limit: SweepLimit): Promise<SweepReport> {
  return removeOlder(deps, limit, { collection: addressChanges, index: 'byTime', time: deps.clock() - keptMs });
}
