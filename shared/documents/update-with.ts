import { write, type Changes, type Collection, type Document, type Documents, type Write } from '../ports/documents.ts';

/** Changes a document and makes the other writes with it, all of them or none; resolves with it as it is then. Throws as `commit` does. */
export async function updateWith<T extends Document>(
  documents: Pick<Documents, 'commit'>,
  of: Collection<T>,
  document: T,
  { set, also }: { readonly set: Changes<T>; readonly also: readonly Write[] },
): Promise<T> {
  await documents.commit([write.update(of, document, set), ...also]);
  return { ...document, ...set, version: document.version + 1 };
}
