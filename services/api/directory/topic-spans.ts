import type { StorageFeatures } from '@tocsin/shared/ports/engine.ts';
import { subscriptions } from '@tocsin/shared/collections/subscriptions-collection.ts';
import { teamMembers } from '@tocsin/shared/collections/teams.ts';
import { topics } from '@tocsin/shared/collections/topics.ts';
import { ReadCache } from '@tocsin/shared/documents/read-cache.ts';

/** Topics of one query. */
export interface TopicSpan {
  readonly ids: readonly string[];
  /** The name of each topic. */
  readonly names: ReadonlyMap<string, string>;
  /** The topics that the account manages. */
  readonly managed: ReadonlySet<string>;
}

/** The topics that queries of accounts cover. Cached, because they are collected from up to thousands of documents. */
export type TopicSpans = ReadCache<TopicSpan>;

/** The maximum of topics in all cached spans: some tens of megabytes. */
const topicsKeptMax = 200_000;

export function topicSpans(storage: StorageFeatures): TopicSpans {
  return new ReadCache({
    storage,
    collections: [topics, subscriptions, teamMembers],
    sizeOf: ({ ids }) => ids.length,
    sizeMax: topicsKeptMax,
  });
}
