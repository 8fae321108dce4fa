import { idempotencyKeys } from '@tocsin/shared/collections/idempotency-keys.ts';
import { removeOlder } from './sweep/remove-older.ts';
import type { RetentionDeps, SweepLimit, SweepReport } from './sweep/retention-deps.ts';

/** More than the clocks of nodes differ by: to one whose clock is behind the key still stands for its message. */
const keptMs = 3_600_000;

/** Removes idempotency keys an hour after the end of the 24 hours that they count for. One that is used anew meanwhile stays. */
export function removeIdempotencyKeys(deps: RetentionDeps, limit: SweepLimit): Promise<SweepReport> {
  return removeOlder(deps, limit, { collection: idempotencyKeys, index: 'byExpiry', time: deps.clock() - keptMs });
}
