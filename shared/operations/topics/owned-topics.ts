import type { Topic } from '../../domain/topics/topic.ts';
import type { Documents } from '../../ports/documents.ts';
import { topics } from '../../collections/topics.ts';

const pageSize = 200;

/**
 * The topics that the account owns, those of its teams included, oldest first, in pages. None is left out or comes twice,
 * whatever is made or removed meanwhile.
 */
export async function* ownedTopics(documents: Documents, ownerId: string): AsyncGenerator<Topic[], void> {
  /** Where the last page ended, and which of that very time it has shown. */
  let from = 0;
  let shown = new Set<string>();
  for (;;) {
    const limit = pageSize + shown.size;
    const found = await documents.find(topics, { index: 'byOwner', equals: { ownerId }, from, limit });
    const page = found.filter(({ id }) => !shown.has(id));
    if (page.length > 0) yield page;
    if (found.length < limit) return;
    const lastAt = found.at(-1)!.createdAt;
    const ofLast = found.filter(({ createdAt }) => createdAt === lastAt).map(({ id }) => id);
    shown = new Set(lastAt === from ? [...shown, ...ofLast] : ofLast);
    from = lastAt;
  }
}
