import { findDeliveryPages, sinkDeliveryPages, sinks } from '../../collections/sinks/sinks.ts';
import type { Sink } from '../../domain/sinks/sink.ts';
import { write, type Documents, type Write } from '../../ports/documents.ts';

/** Sinks per commit: with their pages, some hundred documents. */
const sinksAtOnce = 10;

/** Returns the writes that remove the sink, if it still has this version, and its deliveries. */
export async function removeSinkWrites(
  documents: Pick<Documents, 'find'>,
  { id, version }: Pick<Sink, 'id' | 'version'>,
): Promise<Write[]> {
  // A page is only stored in a commit that changes the sink, so that none is added concurrently.
  const pages = await findDeliveryPages(documents, id);
  return [write.remove(sinks, id, version), ...pages.map((page) => write.remove(sinkDeliveryPages, page.id))];
}

/** Removes some sinks that the account created; resolves with their number, 0 when none is left. */
export async function removeSinksOf(documents: Documents, createdBy: string): Promise<number> {
  const found = await documents.find(sinks, { index: 'byCreator', equals: { createdBy }, limit: sinksAtOnce });
  const writes = await Promise.all(found.map((sink) => removeSinkWrites(documents, sink)));
  if (found.length > 0) await documents.commit(writes.flat());
  return found.length;
}
