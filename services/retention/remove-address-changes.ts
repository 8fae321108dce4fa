import { addressChanges } from '@tocsin/shared/collections/address-changes.ts';
import { removeOlder } from './sweep/remove-older.ts';
import type { RetentionDeps, SweepLimit, SweepReport } from './sweep/retention-deps.ts';

/** Longer than a notice to the former address is tried, outages included. */
const keptMs = 7 * 86_400_000;

/** Removes former addresses whose notice was never sent: over the limit of mails, refused, or the account was disabled. */
export function removeAddressChanges(deps: RetentionDeps, limit: SweepLimit): Promise<SweepReport> {
  return removeOlder(deps, limit, { collection: addressChanges, index: 'byTime', time: deps.clock() - keptMs });
}
