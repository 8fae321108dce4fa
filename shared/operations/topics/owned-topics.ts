import type { Topic } from '../../domain/topics/topic.ts';
import type { Documents } from '../../ports/documents.ts';
import { topics } from '../../collections/topics.ts';

const pageSize = 200;

/**
 * Returns the topics that the account owns, including those of its teams, oldest first, in pages. Complete and without
 * duplicates despite concurrent changes.
 */
export async function* ownedTopics(documents: Documents, ownerId: string): AsyncGenerator<Topic[], void> {
  /** The creation time of the last page's last topic, and the topics of that time that the page contained. */
  let from = 0;
  let seen = new Set<string>();
  for (;;) {
    const limit = pageSize + seen.size;
    const found = await documents.find(topics, { index: 'byOwner', equals: { ownerId }, from, limit });
    const page = found.filter(({ id }) => !seen.has(id));
    if (page.length > 0) yield page;
    if (found.length < limit) return;
    const lastAt = found.at(-1)!.createdAt;
    const idsAtLast = found.filter(({ createdAt }) => createdAt === lastAt).map(({ id }) => id);
    seen = new Set(lastAt === from ? [...seen, ...idsAtLast] : idsAtLast);
    from = lastAt;
  }
}
