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
import { documentsMutex } from '../async/keyed-mutex.ts';
import { retryStale } from '../documents/retry-stale.ts';

/**
 * Guards a limit of one holder (an account, a topic, a team). Its version increases with each counted document, so that
 * only one of two concurrent writers succeeds.
 */
export type QuotaGuard = Document;

export const quotaGuards: Collection<QuotaGuard> = { name: 'quotaGuards', fields: {}, uniqueKeys: {}, indexes: {} };

/** The writes, decided from the latest reads. */
export interface Prepared<T> {
  readonly writes: readonly Write[];
  readonly result: T;
}

/**
 * Stores a document that counts against a limit of the holder. The limit is exact under concurrent calls on all nodes.
 * `prepare` reads, counts, throws if the limit is reached, and returns the writes. It runs again if the commit fails
 * because another document of the holder was counted, because a version has changed, or with an error that `isLostRace`
 * accepts; and if `prepare` throws after such a change, because it may have read an inconsistent state. Rejects with
 * the error of `prepare`, UniqueKeyViolation, or `unavailable`.
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
  // Callers that lost a race run sequentially on this node, to avoid further conflicts.
  let hasLost = false;
  return retryStale(
    () => {
      if (hasLost) return documentsMutex(documents).run(holderId, attempt);
      hasLost = true;
      return attempt();
    },
    (error) => isLostRace(error) || (error instanceof UniqueKeyViolation && error.collection === quotaGuards.name),
  );
}
