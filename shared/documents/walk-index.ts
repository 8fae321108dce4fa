import type { Collection, Document, Documents } from '../ports/documents.ts';

const pageSize = 500;
/** What a find takes. */
const limitMax = 10_000;

export interface IndexWalk<T extends Document, V extends string | number> {
  readonly index: string;
  readonly equals: Partial<T>;
  /** Where it begins; at the start of the index without it. */
  readonly from?: V | undefined;
  /** Of the index's first field behind those that `equals` has. Several documents may share one. */
  readonly valueOf: (document: T) => V;
  /** A value behind this one and before all others that are behind it. */
  readonly next: (value: V) => V;
}

/**
 * The documents of an index in pages, in its order. What is made, removed or changed meanwhile may be left out, and nothing
 * comes twice. Of more than 10,000 that share a value the others are left out.
 */
export async function* walkIndex<T extends Document, V extends string | number>(
  documents: Pick<Documents, 'find'>,
  collection: Collection<T>,
  { index, equals, valueOf, next, ...walk }: IndexWalk<T, V>,
): AsyncGenerator<T[], void> {
  let { from } = walk;
  // Of the value that the last page ended with: they are found again.
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
