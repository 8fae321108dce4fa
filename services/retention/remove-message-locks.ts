import { messageLocks } from '@tocsin/shared/collections/message-locks.ts';
import { removeOlder } from './sweep/remove-older.ts';
import type { RetentionDeps, SweepLimit, SweepReport } from './sweep/retention-deps.ts';

/** Long after the lock's owner ended or died. */
const keptMs = 3_600_000;

/** Removes the message locks of dead processes. */
export function removeMessageLocks(deps: RetentionDeps, limit: SweepLimit): Promise<SweepReport> {
  return removeOlder(deps, limit, { collection: messageLocks, index: 'byTime', time: deps.clock() - keptMs });
}
