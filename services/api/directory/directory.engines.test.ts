import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { topics } from '@tocsin/shared/collections/topics.ts';
import { users } from '@tocsin/shared/collections/users.ts';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import { closers, type Closers } from '@tocsin/shared/platform/lifecycle.ts';
import { openLogger } from '@tocsin/shared/platform/logger.ts';
import type { Documents } from '@tocsin/shared/ports/documents.ts';
import { announcedAheadMsMax, type StorageFeatures } from '@tocsin/shared/ports/engine.ts';
import { newTopic, newUser } from '@tocsin/shared/testing/builders.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { openOwnEngine, engineUnderTest } from '@tocsin/shared/testing/test-engine.ts';
import { Directory } from './directory.ts';

let own: Closers;
let documents: Documents;
let topic: Topic;
let directory: Directory;
let reads: number;
let watchReads: number;
let aheadMs: number;

beforeEach(async () => {
  own = closers();
  const { engine } = await openOwnEngine(own);
  documents = engine.documents;
  reads = 0;
  watchReads = 0;
  aheadMs = 0;
  const counted: Documents = {
    ...documents,
    getMany: (collection, ids) => {
      reads += 1;
      return documents.getMany(collection, ids);
    },
  };
  directory = new Directory({
    ...engine,
    documents: counted,
    storage:
      engine.storage.changesSince === undefined ? {} : { changesSince: countedChanges(engine.storage.changesSince) },
    log: openLogger('test', 'silent'),
    clock: () => performance.now() + aheadMs,
  });
  own.add(await directory.start());
  const owner = await documents.insert(users, newUser());
  topic = await documents.insert(topics, newTopic(owner.id));
});
afterEach(() => own.closeAll());

const countedChanges = (since: NonNullable<StorageFeatures['changesSince']>) => async (position: number | null) => {
  const changes = await since(position);
  watchReads += 1;
  return changes;
};

/** Resolves when the directory knows all changes until now. */
async function watched(): Promise<void> {
  const begun = watchReads;
  await eventually(() => Promise.resolve(watchReads >= begun + 2)); // one may have started earlier
}

/** Lets all known changes become 1.8 s old. */
const later = () => (aheadMs += 1_800);

/** Resolves when the cached topic is known to be current again. */
const isCurrent = () => eventually(() => Promise.resolve(directory.peekTopic(topic.id) !== undefined));

describe('a directory that gets no notification', () => {
  test('shows a change after 1.8 s, and a removal', async () => {
    await directory.topic(topic.id);
    await documents.update(topics, topic, { accessLevel: 'private' });
    later();
    expect(await directory.topic(topic.id)).toMatchObject({ accessLevel: 'private' });
    await documents.remove(topics, topic.id);
    later();
    expect(await directory.topic(topic.id)).toBeNull();
  });

  if (engineUnderTest === 'cluster') {
    beforeEach(async () => {
      await watched();
      aheadMs += announcedAheadMsMax + 1; // changes may be under way when the directory starts
      await directory.topic(topic.id);
      later();
      await isCurrent();
      reads = 0;
    });

    test('does not read unchanged documents again, and shows a later change after 1.8 s', async () => {
      aheadMs += 60_000;
      await isCurrent();
      await directory.refresh({ topics: [topic.id] });
      expect(await directory.topic(topic.id)).toMatchObject({ accessLevel: topic.accessLevel });
      expect(reads).toBe(0);
      await documents.update(topics, topic, { accessLevel: 'private' });
      later();
      expect(await directory.topic(topic.id)).toMatchObject({ accessLevel: 'private' });
      await documents.remove(topics, topic.id);
      later();
      expect(await directory.topic(topic.id)).toBeNull();
    });

    test('does not read a document again because of changes that it does not use', async () => {
      await documents.update(topics, topic, { lastActivityAt: topic.lastActivityAt + 1 });
      await documents.increment(topics, topic.id, { subscriberCount: 1 });
      aheadMs += 60_000;
      await isCurrent();
      expect(reads).toBe(0);
    });

    test('reads a changed document again until the change must have ended', async () => {
      await documents.update(topics, topic, { accessLevel: 'private' });
      await watched();
      for (let n = 1; n <= 3; n += 1) {
        later();
        expect(await directory.topic(topic.id)).toMatchObject({ accessLevel: 'private' });
        expect(reads).toBe(n);
      }
      aheadMs += announcedAheadMsMax + 1;
      await directory.topic(topic.id);
      later();
      await isCurrent();
    });
  }
});
