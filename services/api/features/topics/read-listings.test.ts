import { expect, test } from '@jest/globals';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import { newId, newTopic } from '@tocsin/shared/testing/builders.ts';
import { useTestEngine } from '@tocsin/shared/testing/use-test-engine.ts';
import { topics } from '@tocsin/shared/collections/topics.ts';
import { readListings, type Listing } from './read-listings.ts';

const engine = await useTestEngine();

/** Topics of several owners with many equal activity times. */
async function addTopics(count: number): Promise<{ listing: Listing; stored: Topic[] }> {
  const ownerId = newId();
  const stored = await Promise.all(
    Array.from({ length: count }, (_, at) =>
      engine.documents.insert(topics, newTopic(ownerId, { lastActivityAt: 1_000 + ((at * 7) % 13) })),
    ),
  );
  return { listing: { index: 'byOwnerActivity', equals: { ownerId } }, stored };
}

test('every page of several listings is the corresponding slice of their union by activity', async () => {
  const parts = await Promise.all([37, 5, 0, 11].map(addTopics));
  const union = parts
    .flatMap(({ stored }) => stored)
    .sort((a, b) => b.lastActivityAt - a.lastActivityAt || (a.id < b.id ? 1 : -1))
    .map(({ id }) => id);
  const listings = parts.map(({ listing }) => listing);
  for (let offset = 0; offset <= union.length + 1; offset++) {
    for (const limit of [1, 2, 7, 60]) {
      const page = await readListings(engine.documents, listings, { offset, limit });
      expect(page.topics.map(({ id }) => id)).toEqual(union.slice(offset, offset + limit));
      expect(page.total).toBe(union.length);
    }
  }
});

test('deep pages of several large listings are correct', async () => {
  const parts = await Promise.all([140, 230, 3].map(addTopics));
  const union = parts
    .flatMap(({ stored }) => stored)
    .sort((a, b) => b.lastActivityAt - a.lastActivityAt || (a.id < b.id ? 1 : -1))
    .map(({ id }) => id);
  for (let offset = 60; offset <= union.length; offset += 13) {
    const page = await readListings(
      engine.documents,
      parts.map(({ listing }) => listing),
      { offset, limit: 20 },
    );
    expect(page.topics.map(({ id }) => id)).toEqual(union.slice(offset, offset + 20));
  }
});

test('a page contains a topic once that another topic moves back while the page is read', async () => {
  const [{ listing, stored }, other] = await Promise.all([addTopics(6), addTopics(0)]);
  let reads = 0;
  const documents: Parameters<typeof readListings>[0] = {
    count: (...query) => engine.documents.count(...query),
    async find(...query) {
      const found = await engine.documents.find(...query);
      reads += 1;
      const ownerId = listing.equals.ownerId!;
      if (reads === 1) await engine.documents.insert(topics, newTopic(ownerId, { lastActivityAt: 2_000 }));
      return found;
    },
  };
  const { topics: page } = await readListings(documents, [listing, other.listing], { offset: 0, limit: 6 });
  expect(reads).toBeGreaterThan(2);
  expect(page.map(({ id }) => id).sort()).toEqual(stored.map(({ id }) => id).sort());
});

test('no listing and an empty listing have no topics', async () => {
  const { listing } = await addTopics(0);
  for (const listings of [[], [listing]]) {
    expect(await readListings(engine.documents, listings, { offset: 0, limit: 10 })).toEqual({ topics: [], total: 0 });
  }
});
