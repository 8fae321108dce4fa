import type { Documents } from '@tocsin/shared/ports/documents.ts';
import { subscriptions } from '@tocsin/shared/collections/subscriptions-collection.ts';
import { teamMembers } from '@tocsin/shared/collections/teams.ts';
import { topics } from '@tocsin/shared/collections/topics.ts';
import { KeptReads } from './kept-reads.ts';

/** Topics that are asked about together. */
export interface TopicSpan {
  readonly ids: readonly string[];
  /** What each is called. */
  readonly names: ReadonlyMap<string, string>;
}

/** What the questions of accounts span. It is put together from up to thousands of documents, so it is kept. */
export type TopicSpans = KeptReads<TopicSpan>;

/** Topics in all the spans that are kept: some tens of megabytes. */
const topicsKeptMax = 200_000;

export function topicSpans(documents: Documents): TopicSpans {
  return new KeptReads({
    documents,
    collections: [topics, subscriptions, teamMembers],
    sizeOf: ({ ids }) => ids.length,
    sizeMax: topicsKeptMax,
  });
}
