import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import type { Documents } from '@tocsin/shared/ports/documents.ts';
import { topics } from '@tocsin/shared/collections/topics.ts';
import { mergePage, readIndex } from '@tocsin/shared/documents/merge-indexes.ts';

/** Topics that an index of the store returns by activity. */
export interface Listing {
  readonly index: string;
  readonly equals: Partial<Topic>;
}

export interface TopicPage {
  readonly topics: Topic[];
  /** The total of topics. */
  readonly total: number;
}

/** The maximum of topics per read of a listing. */
const chunkMax = 1_000;
/** Reading an unused topic costs less than reading a listing twice. */
const chunkSlack = 1.2;
/** Skipping fewer topics at a time costs more than reading them. */
const leapMin = 25;

/**
 * Returns a page of several listings merged by latest activity (then newer topic first) and their total.
 * No topic may be in two of them.
 *
 * Topics that certainly precede the page are not read: of a listing of n topics among N, the first `offset - (N - n)`
 * precede it in any case, and `skip` finds more. So deep pages are cheap.
 */
export async function readListings(
  documents: Pick<Documents, 'count' | 'find'>,
  listings: readonly Listing[],
  page: { limit: number; offset: number },
): Promise<TopicPage> {
  const counts = await Promise.all(listings.map((listing) => documents.count(topics, listing)));
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (page.offset >= total) return { topics: [], total };
  const skipped = await skip(documents, listings, {
    offset: page.offset,
    starts: counts.map((count) => Math.max(0, page.offset - (total - count))),
  });
  const before = page.offset - skipped.reduce((sum, count) => sum + count, 0);
  // An equal share of each plus a margin; listings that need more are read again.
  const chunk = Math.min(chunkMax, Math.ceil(((before + page.limit) / listings.length) * chunkSlack));
  const readers = listings.map((listing, index) =>
    readIndex(documents, topics, { ...listing, descending: true, offset: skipped[index]!, limit: chunk }),
  );
  return { topics: await mergePage(readers, isBefore, { offset: before, limit: page.limit }), total };
}

/**
 * Returns how many topics of each listing certainly precede `offset` in the merged order; `starts` are the known
 * numbers.
 *
 * Of the n-th topics of m listings, at most n·m - 1 topics precede the first in order. If at least that many must be
 * skipped, n topics of that listing can be. Repeated rounds leave little, for one topic read per listing and round.
 */
async function skip(
  documents: Pick<Documents, 'count' | 'find'>,
  listings: readonly Listing[],
  { offset, starts }: { offset: number; starts: readonly number[] },
): Promise<number[]> {
  const skipped = [...starts];
  for (let left = offset - starts.reduce((sum, count) => sum + count, 0); ;) {
    const leap = Math.floor(left / listings.length);
    if (leap < leapMin) return skipped;
    const ends = await Promise.all(
      listings.map((listing, index) =>
        documents.find(topics, { ...listing, descending: true, limit: 1, offset: skipped[index]! + leap - 1 }),
      ),
    );
    const [first] = ends
      .flatMap(([topic], index) => (topic === undefined ? [] : [{ topic, index }]))
      .sort((a, b) => (isBefore(a.topic, b.topic) ? -1 : 1));
    if (first === undefined) return skipped;
    skipped[first.index]! += leap;
    left -= leap;
  }
}

/** The order of every listing. */
export function isBefore(a: Topic, b: Topic): boolean {
  return a.lastActivityAt > b.lastActivityAt || (a.lastActivityAt === b.lastActivityAt && a.id > b.id);
}
