import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { topics } from '@tocsin/shared/collections/topics.ts';
import { users } from '@tocsin/shared/collections/users.ts';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import { closers, type Closers } from '@tocsin/shared/platform/lifecycle.ts';
import { openLogger } from '@tocsin/shared/platform/logger.ts';
import type { Documents } from '@tocsin/shared/ports/documents.ts';
import { announcedAheadMsMax } from '@tocsin/shared/ports/announced-changes.ts';
import type { StorageFeatures } from '@tocsin/shared/ports/engine.ts';
import { newTopic, newUser } from '@tocsin/shared/testing/builders.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { openOwnEngine, engineUnderTest } from '@tocsin/shared/testing/test-engine.ts';
import { Directory } from './directory.ts';

let own: Closers;
let documents: Documents;
let topic: Topic;
let unchanged: Topic;
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
  unchanged = await documents.insert(topics, newTopic(owner.id));
});
afterEach(() => own.closeAll());

const countedChanges = (since: NonNullable<StorageFeatures['changesSince']>) => async (position: string | null) => {
  const changes = await since(position);
  watchReads += 1;
  return changes;
};

/** Resolves when the directory knows all changes until now. */
async function watched(): Promise<void> {
  const begun = watchReads;
  await eventually(() => Promise.resolve(watchReads >= begun + 2)); // one may have started earlier
}

/** Lets all that is known of changes become 1.8 s old. */
const later = () => (aheadMs += 1_800);

/** Whether the cached values of the topic, and of one without changes, are known to be current, without a read. */
const areCurrent = () => [topic, unchanged].map(({ id }) => directory.peekTopic(id) !== undefined && reads === 0);

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
      await Promise.all([directory.topic(topic.id), directory.topic(unchanged.id)]);
      reads = 0;
      aheadMs += 60_000;
      await eventually(() => expect(areCurrent()).toEqual([true, true]));
    });

    test('keeps unchanged documents, and not a changed one', async () => {
      await documents.update(topics, topic, { accessLevel: 'private' });
      await watched();
      later();
      await eventually(() => expect(areCurrent()).toEqual([false, true]));
      expect(await directory.topic(topic.id)).toMatchObject({ accessLevel: 'private' });
    });

    test('does not keep a removed document', async () => {
      await documents.remove(topics, topic.id);
      await watched();
      later();
      await eventually(() => expect(areCurrent()).toEqual([false, true]));
      expect(await directory.topic(topic.id)).toBeNull();
    });

    test('keeps documents whose changes it does not use', async () => {
      await documents.update(topics, topic, { lastActivityAt: topic.lastActivityAt + 1 });
      await documents.increment(topics, topic.id, { subscriberCount: 1 });
      await watched();
      later();
      await eventually(() => expect(areCurrent()).toEqual([true, true]));
    });

    test('reads a changed document again until the change must have ended', async () => {
      await documents.update(topics, topic, { accessLevel: 'private' });
      await watched();
      for (const passedMs of [0, announcedAheadMsMax - 30_000]) {
        aheadMs += passedMs;
        await directory.topic(topic.id);
        reads = 0;
        later();
        await eventually(() => expect(areCurrent()).toEqual([false, true]));
      }
      aheadMs += 30_000;
      await directory.topic(topic.id);
      reads = 0;
      later();
      await eventually(() => expect(areCurrent()).toEqual([true, true]));
    });
  }
});
