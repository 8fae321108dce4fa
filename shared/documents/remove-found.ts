import { write, type Collection, type Document, type Documents, type Query } from '../ports/documents.ts';

/** Removes the documents that the query finds, unconditionally; resolves with their number. */
export async function removeFound<T extends Document>(
  documents: Documents,
  collection: Collection<T>,
  query: Query<T>,
): Promise<number> {
  const found = await documents.find(collection, query);
  if (found.length > 0) await documents.commit(found.map(({ id }) => write.remove(collection, id)));
  return found.length;
}
