import type { User } from '@tocsin/shared/domain/accounts/user.ts';
import { removeUnverified } from '@tocsin/shared/operations/accounts/accounts.ts';
import { users } from '@tocsin/shared/collections/users.ts';
import { commitUnlessStale } from '../sweep/commit-unless-stale.ts';
import { isOver, type RetentionDeps, type SweepLimit, type SweepReport } from '../sweep/retention-deps.ts';

/** How long an address and a username are held for somebody who has not opened the mailed link. */
const lifetimeMs = 7 * 86_400_000;
const batchSize = 100;

/** Removes accounts that were made a week ago and never verified; one that was verified once stays, whatever it is now. */
export async function removeUnverifiedAccounts(deps: RetentionDeps, limit: SweepLimit): Promise<SweepReport> {
  let removed = 0;
  while (!isOver(deps, limit)) {
    const found = await deps.engine.documents.find(users, {
      index: 'byVerified',
      equals: { wasVerified: false },
      to: deps.clock() - lifetimeMs,
      limit: batchSize,
    });
    const before = removed;
    for (const user of found) if (await remove(deps, user)) removed += 1;
    if (found.length < batchSize) return { removed, hasMore: false };
    if (removed === before) break; // all of them are being changed: the next run looks again
  }
  return { removed, hasMore: true };
}

/** Resolves with false when it was verified, replaced or removed in this very moment. */
async function remove({ engine: { documents }, audit }: RetentionDeps, user: User): Promise<boolean> {
  return commitUnlessStale(documents, await removeUnverified(documents, user, audit));
}
