import { isUnavailable } from '../domain/errors.ts';
import { StaleVersion, type Changes, type Collection, type Document, type Documents } from '../ports/documents.ts';
import { WriteBehindBuffer, type WriteBehindOptions } from './write-behind-buffer.ts';

export interface ConditionalBufferOptions<T extends Document, P> extends Pick<
  WriteBehindOptions<P>,
  'merge' | 'everyMs' | 'onLoss'
> {
  readonly documents: Documents;
  readonly collection: Collection<T>;
  /** Returns the fields to set; null if the document already has these values. */
  readonly change: (document: T, pending: P) => Changes<T> | null;
}

/** A write-behind buffer whose updates are conditional, so that they do not overwrite concurrent changes. */
export function conditionalBuffer<T extends Document, P>({
  documents,
  collection,
  change,
  ...options
}: ConditionalBufferOptions<T, P>): WriteBehindBuffer<P> {
  const { onLoss } = options;
  return new WriteBehindBuffer<P>({
    ...options,
    of: collection.name,
    async write(batch) {
      const retries = new Map<string, P>();
      const found = await documents.getMany(collection, [...batch.keys()]);
      await Promise.all(
        found.map(async (document) => {
          const update = batch.get(document.id)!;
          const set = change(document, update);
          if (set === null) return;
          try {
            await documents.update(collection, document, set);
          } catch (error) {
            if (error instanceof StaleVersion || isUnavailable(error)) retries.set(document.id, update);
            else onLoss(error);
          }
        }),
      );
      return retries;
    },
  });
}
