import { mailTokens } from '@tocsin/shared/collections/mail-tokens.ts';
import { removeOlder } from './sweep/remove-older.ts';
import type { RetentionDeps, SweepLimit, SweepReport } from './sweep/retention-deps.ts';

/** During this time, an old link gets an expired error instead of an invalid token error. */
const keptMs = 7 * 86_400_000;

/** Removes email tokens that expired a week ago. Used or replaced tokens are already removed. */
export function removeMailedTokens(deps: RetentionDeps, limit: SweepLimit): Promise<SweepReport> {
  return removeOlder(deps, limit, { collection: mailTokens, index: 'byExpiry', time: deps.clock() - keptMs });
}
