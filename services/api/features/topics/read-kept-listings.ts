import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import type { Documents } from '@tocsin/shared/ports/documents.ts';
import { topics } from '@tocsin/shared/collections/topics.ts';
import type { TopicListings } from '../../directory/topic-listings.ts';
import { isBefore, readListings, type Listing, type TopicPage } from './read-listings.ts';

/** Longer listings are read page by page. Harm prevented: a page that reads and sorts thousands of topics. */
const wholeMax = 2_000;

type ListingDeps = { readonly engine: { readonly documents: Documents }; readonly topicListings: TopicListings };

/**
 * As `readListings`; but where the store can tell that nobody has written to the topics, listings are kept whole: a page of them
 * costs half as much as its topics take to read.
 */
export async function readKeptListings(
  { engine: { documents }, topicListings }: ListingDeps,
  listings: readonly Listing[],
  page: { limit: number; offset: number },
): Promise<TopicPage> {
  if (documents.stamp([topics]) === null) return readListings(documents, listings, page);
  const kept = await Promise.all(
    listings.map((listing) => topicListings.get(JSON.stringify(listing), () => readWhole(documents, listing))),
  );
  const whole = kept.filter((listing) => listing !== null);
  if (whole.length < listings.length) return readListings(documents, listings, page);
  const all = whole.length === 1 ? whole[0]! : whole.flat().sort((a, b) => (isBefore(a, b) ? -1 : 1));
  return { topics: all.slice(page.offset, page.offset + page.limit), total: all.length };
}

/** The topics of the listing in order; null when there are too many. */
async function readWhole(documents: Documents, listing: Listing): Promise<Topic[] | null> {
  const found = await documents.find(topics, { ...listing, descending: true, limit: wholeMax + 1 });
  return found.length > wholeMax ? null : found;
}
