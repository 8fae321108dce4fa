import type { Collection, Document, Documents, Query } from '../ports/documents.ts';

/** Reads an index in order. */
export interface IndexReader<T> {
  /** Returns the next document, undefined at the end. */
  peek(): Promise<T | undefined>;
  take(): void;
}

/** Reads the documents that the query finds from its offset on, `limit` at a time, in its order. */
export function readIndex<T extends Document>(
  documents: Pick<Documents, 'find'>,
  collection: Collection<T>,
  query: Query<T>,
): IndexReader<T> {
  let offset = query.offset ?? 0;
  let read: T[] = [];
  let at = 0;
  let isAtEnd = false;
  return {
    async peek() {
      if (at === read.length && !isAtEnd) {
        read = await documents.find(collection, { ...query, offset });
        offset += read.length;
        at = 0;
        isAtEnd = read.length < query.limit;
      }
      return read[at];
    },
    take() {
      at += 1;
    },
  };
}

/**
 * Merges readers of one order, which `isBefore` decides, and returns a page of the result. A document counts once, even
 * if it is in several readers or another document moves it back between two reads.
 */
export async function mergePage<T extends Document>(
  readers: readonly IndexReader<T>[],
  isBefore: (a: T, b: T) => boolean,
  page: { readonly offset: number; readonly limit: number },
): Promise<T[]> {
  const found: T[] = [];
  const taken = new Set<string>();
  while (found.length < page.limit) {
    let first: T | undefined;
    for (const reader of readers) {
      const next = await reader.peek();
      if (next !== undefined && (first === undefined || isBefore(next, first))) first = next;
    }
    if (first === undefined) break;
    for (const reader of readers) if ((await reader.peek())?.id === first.id) reader.take();
    if (taken.has(first.id)) continue;
    taken.add(first.id);
    if (taken.size > page.offset) found.push(first);
  }
  return found;
}
