import { messageLocks } from '@tocsin/shared/collections/message-locks.ts';
import { removeOlder } from './sweep/remove-older.ts';
import type { RetentionDeps, SweepLimit, SweepReport } from './sweep/retention-deps.ts';

/** Long after whoever took it has ended or died, and nobody has taken it over. */
const keptMs = 3_600_000;

/** Removes the locks that processes left behind which died while they changed a message. */
export function removeMessageLocks(deps: RetentionDeps, limit: SweepLimit): Promise<SweepReport> {
  return removeOlder(deps, limit, { collection: messageLocks, index: 'byTime', time: deps.clock() - keptMs });
}
