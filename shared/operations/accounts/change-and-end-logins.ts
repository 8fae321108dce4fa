import type { Change } from '../../domain/change.ts';
import type { User } from '../../domain/accounts/user.ts';
import { write, type Changes, type Documents, type Write } from '../../ports/documents.ts';
import { loginSessions } from '../../collections/credentials.ts';
import { retryStale } from '../../documents/retry-stale.ts';
import { updateWith } from '../../documents/update-with.ts';
import { users } from '../../collections/users.ts';

/** The account as it was read, its changes, and other writes. */
export interface DecidedChange {
  readonly user: User;
  readonly set: Changes<User>;
  readonly otherWrites: readonly Write[];
}

/** Logins removed in the same commit; a commit has at most 1,000 writes, including those of the change. */
const sessionsPerCommit = 700;
const commitsMax = 1_000;

/**
 * Changes the account and ends all its logins in one commit. `decide` must read its input itself, because it runs again
 * after a lost race. Resolves with the account and the changes that the caller must publish to the nodes.
 */
export async function changeAndEndLogins(
  documents: Documents,
  decide: () => Promise<DecidedChange>,
): Promise<{ user: User; changes: readonly Change[] }> {
  const ended = new Set<string>();
  const user = await retryStale(async () => {
    const { user: found, set, otherWrites } = await decide();
    const last = await endLoginsButLast(documents, found.id, ended);
    const changed = await updateWith(documents, users, found, {
      set,
      otherWrites: [...last.map((id) => write.remove(loginSessions, id)), ...otherWrites],
    });
    for (const id of last) ended.add(id);
    return changed;
  });
  return {
    user,
    changes: [
      { kind: 'user', userId: user.id },
      ...[...ended].map((sessionId) => ({ kind: 'session' as const, sessionId })),
    ],
  };
}

/** Ends the logins that do not fit into the commit. Resolves with the IDs of the others. */
async function endLoginsButLast(documents: Documents, userId: string, ended: Set<string>): Promise<string[]> {
  for (let commits = 0; commits < commitsMax; commits += 1) {
    const found = await documents.find(loginSessions, {
      index: 'byUser',
      equals: { userId },
      limit: sessionsPerCommit,
    });
    const ids = found.map((session) => session.id);
    if (ids.length < sessionsPerCommit) return ids;
    await documents.commit(ids.map((id) => write.remove(loginSessions, id)));
    for (const id of ids) ended.add(id);
  }
  throw new Error(`the account ${userId} has too many logins to end`);
}
