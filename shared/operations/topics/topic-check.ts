import { batchCheck } from '../../async/batch-loader.ts';
import type { StorageFeatures } from '../../ports/engine.ts';
import { ReadCache } from '../../documents/read-cache.ts';

export interface TopicCheckOptions {
  readonly storage: Pick<StorageFeatures, 'changeStamp'>;
  /** The collections that `find` reads. */
  readonly collections: readonly { readonly name: string }[];
  /** Topics per call of `find`. */
  readonly topicsMax: number;
  /** Returns those of the topics for which the answer is yes. */
  readonly find: (topicIds: string[]) => Promise<Iterable<string>>;
}

const answersMax = 20_000;

/**
 * A yes-or-no question about topics. Calls of one tick share a read, and answers are cached until a write to the
 * collections, if the store reports writes. So an answer is never older than the call.
 */
export function topicCheck({
  storage,
  collections,
  topicsMax,
  find,
}: TopicCheckOptions): (topicId: string) => Promise<boolean> {
  const cache = new ReadCache<boolean>({ storage, collections, sizeOf: () => 1, sizeMax: answersMax });
  const check = batchCheck(find, topicsMax);
  return (topicId) => cache.get(topicId, () => check(topicId));
}
