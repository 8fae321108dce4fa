import type { Topic } from '../../domain/topics/topic.ts';
import type { Documents } from '../../ports/documents.ts';
import { topics } from '../../collections/topics.ts';
import { paginateIndex } from '../../documents/paginate-index.ts';

/** Returns all topics in pages, grouped by owner, starting at the owner ID, which need not exist. */
export function paginateTopics(documents: Documents, fromOwnerId?: string): AsyncGenerator<Topic[], void> {
  return paginateIndex(documents, topics, {
    index: 'byOwner',
    equals: {},
    from: fromOwnerId,
    valueOf: ({ ownerId }) => ownerId,
    next: (ownerId) => `${ownerId}~`, // it comes after everything that an id has
  });
}
