import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import type { Documents } from '@tocsin/shared/ports/documents.ts';
import { topics } from '@tocsin/shared/collections/topics.ts';

/** Topics that an index of the store gives in order of activity. */
export interface Listing {
  readonly index: string;
  readonly equals: Partial<Topic>;
}

export interface TopicPage {
  readonly topics: Topic[];
  /** How many topics all pages have together. */
  readonly total: number;
}

/** How many topics of a listing are read at once, at most. */
const chunkMax = 1_000;
/** To read a topic that is not taken costs less than to read a listing twice. */
const chunkSlack = 1.2;
/** Passing over fewer topics of a listing at a time costs more than reading them. */
const leapMin = 25;

/**
 * A page of several listings as one, newest activity first (then the newer topic first), and how many topics they hold
 * together. No topic may be in two of them.
 *
 * What can be known to lie before the page is not read: of a listing of n topics among N, the first `offset - (N - n)`
 * of its own come before it, whatever the others hold, and `skip` finds more. So deep pages cost little.
 */
export async function readListings(
  documents: Documents,
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
  // What each gives if all give alike, and some more; one that gives more is read again.
  const chunk = Math.min(chunkMax, Math.ceil(((before + page.limit) / listings.length) * chunkSlack));
  const readers = listings.map((listing, index) => reader(documents, listing, { offset: skipped[index]!, chunk }));
  return { topics: await merge(readers, before, page.limit), total };
}

/**
 * How many topics of each listing certainly lie before the position `offset` of all; `starts` is how many are known to.
 *
 * Of the n-th topics of m listings the first one in order has at most n·m - 1 before it: so where that many are to be passed
 * over anyway, its listing's n can be. Again and again that leaves little, at the price of one topic a listing and round.
 */
async function skip(
  documents: Documents,
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

/** Reads a listing in chunks: the next topic that was not taken, undefined at its end. */
interface Reader {
  peek(): Promise<Topic | undefined>;
  take(): void;
}

function reader(documents: Documents, listing: Listing, start: { offset: number; chunk: number }): Reader {
  let { offset } = start;
  let read: Topic[] = [];
  let at = 0;
  let isAtEnd = false;
  return {
    async peek() {
      if (at === read.length && !isAtEnd) {
        read = await documents.find(topics, { ...listing, descending: true, limit: start.chunk, offset });
        offset += read.length;
        at = 0;
        isAtEnd = read.length < start.chunk;
      }
      return read[at];
    },
    take() {
      at += 1;
    },
  };
}

/** Takes `before + limit` topics at most, and keeps the last `limit` of them. */
async function merge(readers: readonly Reader[], before: number, limit: number): Promise<Topic[]> {
  const page: Topic[] = [];
  for (let taken = 0; page.length < limit; taken++) {
    let first: { reader: Reader; topic: Topic } | undefined;
    for (const one of readers) {
      const topic = await one.peek();
      if (topic !== undefined && (first === undefined || isBefore(topic, first.topic))) first = { reader: one, topic };
    }
    if (first === undefined) break;
    first.reader.take();
    if (taken >= before) page.push(first.topic);
  }
  return page;
}

/** The order of every listing. */
export function isBefore(a: Topic, b: Topic): boolean {
  return a.lastActivityAt > b.lastActivityAt || (a.lastActivityAt === b.lastActivityAt && a.id > b.id);
}
