import type { User } from '@tocsin/shared/domain/accounts/user.ts';
import { removeUnverified } from '@tocsin/shared/operations/accounts/accounts.ts';
import { users } from '@tocsin/shared/collections/users.ts';
import { commitUnlessStale } from '../sweep/commit-unless-stale.ts';
import { isOver, type RetentionDeps, type SweepLimit, type SweepReport } from '../sweep/retention-deps.ts';

/** How long an unverified account reserves its address and username. */
const lifetimeMs = 7 * 86_400_000;
const batchSize = 100;

/** Removes accounts that were created a week ago and never verified. Keeps accounts that were ever verified. */
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
    if (removed === before) break; // all of them changed concurrently; the next run tries again
  }
  return { removed, hasMore: true };
}

/** Resolves with false if it was concurrently verified, replaced or removed. */
async function remove({ engine: { documents }, audit }: RetentionDeps, user: User): Promise<boolean> {
  return commitUnlessStale(documents, await removeUnverified(documents, user, audit));
}
