import { streamSessions } from '@tocsin/shared/collections/stream-sessions.ts';
import { removeOlder } from './sweep/remove-older.ts';
import type { RetentionDeps, SweepLimit, SweepReport } from './sweep/retention-deps.ts';

/** A session whose node could not say for some minutes that a stream is open on it is moved on again, and must be there then. */
const keptMs = 10 * 60_000;

/** Removes sessions of streams ten minutes after their end. */
export function removeEndedStreamSessions(deps: RetentionDeps, limit: SweepLimit): Promise<SweepReport> {
  return removeOlder(deps, limit, { collection: streamSessions, index: 'byExpiry', time: deps.clock() - keptMs });
}
