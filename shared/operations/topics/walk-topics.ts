import type { Topic } from '../../domain/topics/topic.ts';
import type { Documents } from '../../ports/documents.ts';
import { topics } from '../../collections/topics.ts';
import { walkIndex } from '../../documents/walk-index.ts';

/** All topics in pages, those of one owner after those of the other, from the owner with the id on (which need not exist). */
export function walkTopics(documents: Documents, fromOwnerId?: string): AsyncGenerator<Topic[], void> {
  return walkIndex(documents, topics, {
    index: 'byOwner',
    equals: {},
    from: fromOwnerId,
    valueOf: ({ ownerId }) => ownerId,
    next: (ownerId) => `${ownerId}~`, // it comes after everything that an id has
  });
}
