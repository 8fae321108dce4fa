import { loginSessions } from '@tocsin/shared/collections/credentials.ts';
import { removeOlder } from './sweep/remove-older.ts';
import type { RetentionDeps, SweepLimit, SweepReport } from './sweep/retention-deps.ts';

/** During this time, a late client gets an expired error instead of an invalid token error. */
const keptMs = 7 * 86_400_000;

/** Removes logins whose refresh token expired a week ago. Logins that ended earlier are already removed. */
export function removeEndedLogins(deps: RetentionDeps, limit: SweepLimit): Promise<SweepReport> {
  return removeOlder(deps, limit, { collection: loginSessions, index: 'byExpiry', time: deps.clock() - keptMs });
}
