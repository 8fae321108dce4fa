import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import type { Documents } from '@tocsin/shared/ports/documents.ts';
import { topics } from '@tocsin/shared/collections/topics.ts';
import { KeptReads } from './kept-reads.ts';

/** Listings of topics, whole and in order; null for one that is too long for that. */
export type TopicListings = KeptReads<readonly Topic[] | null>;

/** Topics in all the listings that are kept: some tens of megabytes. */
const topicsKeptMax = 50_000;

export function topicListings(documents: Documents): TopicListings {
  return new KeptReads({
    documents,
    collections: [topics],
    sizeOf: (listing) => listing?.length ?? 1,
    sizeMax: topicsKeptMax,
  });
}
