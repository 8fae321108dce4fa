import { AppError, isUnavailable } from '../domain/errors.ts';
import {
  StaleVersion,
  UniqueKeyViolation,
  write,
  type Collection,
  type Document,
  type Documents,
  type Write,
} from '../ports/documents.ts';
import { holderTurns } from '../async/holder-turns.ts';
import { retryStale } from '../documents/retry-stale.ts';

/**
 * Stands for the things of one holder (an account, a topic, a team) that are counted against a limit. Its version grows
 * with each of them that is made, so that of two that were counted at the same time only one is stored.
 */
export type QuotaGuard = Document;

export const quotaGuards: Collection<QuotaGuard> = { name: 'quotaGuards', fields: {}, uniqueKeys: {}, indexes: {} };

/** What is to be stored, decided from what was just read. */
export interface Prepared<T> {
  readonly writes: readonly Write[];
  readonly result: T;
}

/**
 * Stores something that counts against a limit of the holder, exactly under any number of concurrent calls on all
 * nodes. `prepare` reads, counts, throws when the limit is reached, and gives back what to write; it is run again
 * whenever something else was counted for the holder, or a version that its writes name has changed, meanwhile, or
 * when `isLostRace` says that what the commit failed with means the same. So is what it refuses: it may have read one thing
 * before and another after something else was counted, such as a topic that was open and is the one too many that is closed.
 * Rejects with what `prepare` throws otherwise, UniqueKeyViolation, or `unavailable`.
 */
export async function commitWithinQuota<T>(
  documents: Documents,
  holderId: string,
  prepare: () => Promise<Prepared<T>>,
  isLostRace: (error: unknown) => boolean = () => false,
): Promise<T> {
  const attempt = async () => {
    const guard = await documents.get(quotaGuards, holderId);
    const { writes, result } = await prepare().catch(async (error: unknown) => {
      const isRefusal = error instanceof AppError && !isUnavailable(error);
      if (isRefusal && (await documents.get(quotaGuards, holderId))?.version !== guard?.version)
        throw new StaleVersion(quotaGuards.name, holderId);
      throw error;
    });
    const counted = guard === null ? write.insert(quotaGuards, { id: holderId }) : write.update(quotaGuards, guard, {});
    await documents.commit([counted, ...writes]);
    return result;
  };
  // Many at once would go on meeting: those that lost once come one after another on this node.
  let hasLost = false;
  return retryStale(
    () => {
      if (hasLost) return holderTurns(documents).run(holderId, attempt);
      hasLost = true;
      return attempt();
    },
    (error) => isLostRace(error) || (error instanceof UniqueKeyViolation && error.collection === quotaGuards.name),
  );
}
