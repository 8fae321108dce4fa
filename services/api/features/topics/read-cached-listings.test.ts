import { expect, test } from '@jest/globals';
import { newId, newTopic } from '@tocsin/shared/testing/builders.ts';
import { useTestEngine } from '@tocsin/shared/testing/use-test-engine.ts';
import { topics } from '@tocsin/shared/collections/topics.ts';
import { topicListings } from '../../directory/topic-listings.ts';
import { readCachedListings } from './read-cached-listings.ts';
import { readListings, type Listing } from './read-listings.ts';

const engine = await useTestEngine();

const listingOf = (ownerId: string): Listing => ({ index: 'byOwnerActivity', equals: { ownerId } });
const addTopic = (ownerId: string, lastActivityAt: number) =>
  engine.documents.insert(topics, newTopic(ownerId, { lastActivityAt }));

test('pages of cached listings match the store, also after a write', async () => {
  const deps = { engine, topicListings: topicListings(engine.storage) };
  const owners = [newId(), newId()];
  const listings = owners.map(listingOf);
  const stored = await Promise.all(
    Array.from({ length: 40 }, (_, at) => addTopic(owners[at % 3 === 0 ? 0 : 1]!, 1_000 + ((at * 7) % 13))),
  );
  const expectSame = async () => {
    for (const page of [
      { offset: 0, limit: 10 },
      { offset: 17, limit: 10 },
      { offset: 38, limit: 10 },
      { offset: 60, limit: 10 },
    ]) {
      expect(await readCachedListings(deps, listings, page)).toEqual(
        await readListings(engine.documents, listings, page),
      );
    }
  };
  await expectSame();
  const { id, version } = stored[5]!;
  await engine.documents.update(topics, { id, version }, { lastActivityAt: 5_000 });
  await expectSame();
  const {
    topics: [first],
  } = await readCachedListings(deps, listings, { offset: 0, limit: 1 });
  expect(first).toMatchObject({ id, lastActivityAt: 5_000 });
});

test('paginates a listing that is too long for the cache', async () => {
  const deps = { engine, topicListings: topicListings(engine.storage) };
  const ownerId = newId();
  await Promise.all(Array.from({ length: 2_001 }, (_, at) => addTopic(ownerId, at)));
  const page = await readCachedListings(deps, [listingOf(ownerId)], { offset: 1_990, limit: 20 });
  expect(page.topics.map(({ lastActivityAt }) => lastActivityAt)).toEqual([10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
  expect(page.total).toBe(2_001);
});
