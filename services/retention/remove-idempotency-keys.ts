import { idempotencyKeys } from '@tocsin/shared/collections/idempotency-keys.ts';
import { removeOlder } from './sweep/remove-older.ts';
import type { RetentionDeps, SweepLimit, SweepReport } from './sweep/retention-deps.ts';

/** More than the clock skew of nodes: for a node with a slow clock the key is still valid. */
const keptMs = 3_600_000;

/** Removes idempotency keys an hour after their 24 hours ended. Keeps a key that is reused meanwhile. */
export function removeIdempotencyKeys(deps: RetentionDeps, limit: SweepLimit): Promise<SweepReport> {
  return removeOlder(deps, limit, { collection: idempotencyKeys, index: 'byExpiry', time: deps.clock() - keptMs });
}
