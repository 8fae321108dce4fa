import { streamSessions } from '@tocsin/shared/collections/stream-sessions.ts';
import { removeOlder } from './sweep/remove-older.ts';
import type { RetentionDeps, SweepLimit, SweepReport } from './sweep/retention-deps.ts';

/** Keeps a session that its node could not extend for some minutes although a stream is open. */
const keptMs = 10 * 60_000;

/** Removes stream sessions ten minutes after their end. */
export function removeEndedStreamSessions(deps: RetentionDeps, limit: SweepLimit): Promise<SweepReport> {
  return removeOlder(deps, limit, { collection: streamSessions, index: 'byExpiry', time: deps.clock() - keptMs });
}
