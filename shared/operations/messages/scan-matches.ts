/** Items per read with a filter. Limits the memory of a read to some MB for the longest texts. */
const itemsPerRead = 500;
/** Limits the work of one request with a filter that matches little. */
const itemsMax = 10_000;

/** What a scan read of a topic. */
export interface Scan<T> {
  /** The matching items, by offset. */
  readonly found: readonly T[];
  /** Where to continue: after the last item read, also if it did not match. */
  readonly next: number;
  /** The first and last item read, matching or not; null if nothing was read. */
  readonly first: T | null;
  readonly last: T | null;
  /** Whether nothing followed the last item. */
  readonly isAtEnd: boolean;
}

export interface ScanRequest<T> {
  readonly from: number;
  /** The maximum of matching items. */
  readonly limit: number;
  /** Null matches all. */
  readonly matches: ((item: T) => boolean) | null;
}

/** Returns at most `limit` items from the offset, by offset; fewer only at the end. */
type ReadItems<T> = (from: number, limit: number) => Promise<readonly T[]>;

/**
 * Returns the first matching items from the offset. Ends at the limit, at the end, or after 10,000 items, so that
 * nothing may be found although more follows.
 */
export async function scanMatches<T extends { readonly offset: number }>(
  read: ReadItems<T>,
  { from, limit, matches }: ScanRequest<T>,
): Promise<Scan<T>> {
  const perRead = matches === null ? limit : itemsPerRead;
  const found: T[] = [];
  let [first, last]: [T | null, T | null] = [null, null];
  let next = from;
  for (let count = 0; ;) {
    const page = await read(next, perRead);
    for (const item of page) {
      first ??= item;
      last = item;
      next = item.offset + 1;
      if (matches === null || matches(item)) found.push(item);
      if (found.length === limit) return { found, next, first, last, isAtEnd: false };
    }
    count += page.length;
    const isAtEnd = page.length < perRead;
    if (isAtEnd || count >= itemsMax) return { found, next, first, last, isAtEnd };
  }
}

/**
 * Returns a scan for readers that wait for a match: each call continues after the previous ones, and resolves with what
 * all of them read.
 */
export function continuingScan<T extends { readonly offset: number }>(
  request: ScanRequest<T>,
): (read: ReadItems<T>) => Promise<Scan<T>> {
  let all: Scan<T> | undefined;
  return async (read) => {
    if (all === undefined) return (all = await scanMatches(read, request));
    const limit = request.limit - all.found.length;
    if (limit === 0) return all;
    const more = await scanMatches(read, { ...request, from: all.next, limit });
    const { found, first, last } = all;
    return (all = { ...more, found: [...found, ...more.found], first: first ?? more.first, last: more.last ?? last });
  };
}
