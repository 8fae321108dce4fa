import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import type { Documents } from '@tocsin/shared/ports/documents.ts';
import type { Engine } from '@tocsin/shared/ports/engine.ts';
import { topics } from '@tocsin/shared/collections/topics.ts';
import type { TopicListings } from '../../directory/topic-listings.ts';
import { isBefore, readListings, type Listing, type TopicPage } from './read-listings.ts';

/** Longer listings are read page by page, so that a page does not read and sort thousands of topics. */
const wholeMax = 2_000;

type ListingDeps = {
  readonly engine: Pick<Engine, 'documents' | 'storage'>;
  readonly topicListings: TopicListings;
};

/**
 * Like `readListings`, but caches complete listings if the store can tell that the topics did not change: a cached page
 * costs half as much.
 */
export async function readCachedListings(
  { engine: { documents, storage }, topicListings }: ListingDeps,
  listings: readonly Listing[],
  page: { limit: number; offset: number },
): Promise<TopicPage> {
  if (storage.changeStamp === undefined) return readListings(documents, listings, page);
  const kept = await Promise.all(
    listings.map((listing) => topicListings.get(JSON.stringify(listing), () => readWhole(documents, listing))),
  );
  const whole = kept.filter((listing) => listing !== null);
  if (whole.length < listings.length) return readListings(documents, listings, page);
  const all = whole.length === 1 ? whole[0]! : whole.flat().sort((a, b) => (isBefore(a, b) ? -1 : 1));
  return { topics: all.slice(page.offset, page.offset + page.limit), total: all.length };
}

/** Returns the topics of the listing in order; null if there are too many. */
async function readWhole(documents: Documents, listing: Listing): Promise<Topic[] | null> {
  const found = await documents.find(topics, { ...listing, descending: true, limit: wholeMax + 1 });
  return found.length > wholeMax ? null : found;
}
