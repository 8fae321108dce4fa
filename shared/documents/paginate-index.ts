import type { Collection, Document, Documents } from '../ports/documents.ts';

const pageSize = 500;
/** The query. */
const limitMax = 10_000;

export interface IndexPages<T extends Document, V extends string | number> {
  readonly index: string;
  readonly equals: Partial<T>;
  /** The start; by default the start of the index. */
  readonly from?: V | undefined;
  /** The value of the first index field that `equals` omits. Several documents can share it. */
  readonly valueOf: (document: T) => V;
  /** The next value after this one. */
  readonly next: (value: V) => V;
}

/**
 * Iterates the documents of an index in pages, in index order. Can miss concurrent changes; returns no document twice.
 * If more than 10,000 documents share a value, skips the rest.
 */
export async function* paginateIndex<T extends Document, V extends string | number>(
  documents: Pick<Documents, 'find'>,
  collection: Collection<T>,
  { index, equals, valueOf, next, ...walk }: IndexPages<T, V>,
): AsyncGenerator<T[], void> {
  let { from } = walk;
  // The page starts at the last value of the previous one, so its documents are found again.
  let seen: ReadonlySet<string> = new Set();
  for (;;) {
    const limit = Math.min(pageSize + seen.size, limitMax);
    const found = await documents.find(collection, { index, equals, ...(from === undefined ? {} : { from }), limit });
    const page = found.filter(({ id }) => !seen.has(id));
    if (page.length > 0) yield page;
    if (found.length < limit) return;
    const last = valueOf(found.at(-1)!);
    seen = new Set(found.filter((one) => valueOf(one) === last).map(({ id }) => id));
    from = seen.size < limitMax ? last : next(last);
  }
}
