import { loginSessions } from '@tocsin/shared/collections/credentials.ts';
import { removeOlder } from './sweep/remove-older.ts';
import type { RetentionDeps, SweepLimit, SweepReport } from './sweep/retention-deps.ts';

/** So long whoever comes back late is told that the token has expired, and not that it never was. */
const keptMs = 7 * 86_400_000;

/** Removes logins whose refresh token expired a week ago. One that ended before it expired is gone already. */
export function removeEndedLogins(deps: RetentionDeps, limit: SweepLimit): Promise<SweepReport> {
  return removeOlder(deps, limit, { collection: loginSessions, index: 'byExpiry', time: deps.clock() - keptMs });
}
