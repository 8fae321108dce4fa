import type { Topic } from '../domain/topic.ts';
import type { Documents } from '../ports/documents.ts';
import { topics } from './topics.ts';

const pageSize = 500;
/** What a find takes. */
const limitMax = 10_000;

/**
 * All topics in pages, those of one owner after those of the other, from the owner with the id on (which need not exist).
 * What is made or removed meanwhile may be left out, and nothing comes twice.
 */
export async function* walkTopics(documents: Documents, fromOwnerId = ''): AsyncGenerator<Topic[], void> {
  let from = fromOwnerId;
  // Of the owner that the last page ended with: they are found again.
  let seen: ReadonlySet<string> = new Set();
  for (;;) {
    const limit = Math.min(pageSize + seen.size, limitMax);
    const found = await documents.find(topics, { index: 'byOwner', equals: {}, from, limit });
    const page = found.filter(({ id }) => !seen.has(id));
    if (page.length > 0) yield page;
    if (found.length < limit) return;
    const lastOwner = found.at(-1)!.ownerId;
    seen = new Set(found.filter(({ ownerId }) => ownerId === lastOwner).map(({ id }) => id));
    // One with more topics than a find takes is left behind: `~` comes after everything that an id has.
    from = seen.size < limitMax ? lastOwner : `${lastOwner}~`;
  }
}
