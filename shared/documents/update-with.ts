import { write, type Changes, type Collection, type Document, type Documents, type Write } from '../ports/documents.ts';

/** Updates a document in one commit with the other writes; resolves with the updated document. Throws like `commit`. */
export async function updateWith<T extends Document>(
  documents: Pick<Documents, 'commit'>,
  of: Collection<T>,
  document: T,
  { set, otherWrites }: { readonly set: Changes<T>; readonly otherWrites: readonly Write[] },
): Promise<T> {
  await documents.commit([write.update(of, document, set), ...otherWrites]);
  return { ...document, ...set, version: document.version + 1 };
}
