import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import type { StorageFeatures } from '@tocsin/shared/ports/engine.ts';
import { topics } from '@tocsin/shared/collections/topics.ts';
import { ReadCache } from '@tocsin/shared/documents/read-cache.ts';

/** Complete listings of topics in order; null if a listing is too long. */
export type TopicListings = ReadCache<readonly Topic[] | null>;

/** The maximum of topics in all cached listings: some tens of megabytes. */
const topicsKeptMax = 50_000;

export function topicListings(storage: StorageFeatures): TopicListings {
  return new ReadCache({
    storage,
    collections: [topics],
    sizeOf: (listing) => listing?.length ?? 1,
    sizeMax: topicsKeptMax,
  });
}
