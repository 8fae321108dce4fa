import { mailTokens } from '@tocsin/shared/collections/mail-tokens.ts';
import { removeOlder } from './sweep/remove-older.ts';
import type { RetentionDeps, SweepLimit, SweepReport } from './sweep/retention-deps.ts';

/** So long whoever opens an old link is told that it has expired, and not that it never was. */
const keptMs = 7 * 86_400_000;

/** Removes mailed tokens that expired a week ago. One that was used or replaced is gone already. */
export function removeMailedTokens(deps: RetentionDeps, limit: SweepLimit): Promise<SweepReport> {
  return removeOlder(deps, limit, { collection: mailTokens, index: 'byExpiry', time: deps.clock() - keptMs });
}
