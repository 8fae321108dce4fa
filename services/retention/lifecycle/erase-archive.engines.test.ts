import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { unavailable } from '@tocsin/shared/domain/errors.ts';
import { noExtras } from '@tocsin/shared/domain/messages/message-extras.ts';
import type { Message, StoredMessage } from '@tocsin/shared/domain/messages/message.ts';
import { removeAccount } from '@tocsin/shared/operations/accounts/remove-account.ts';
import { archiveMessages } from '@tocsin/shared/operations/archive/archive-messages.ts';
import { readArchivedMessages } from '@tocsin/shared/operations/archive/read-archive.ts';
import { closers } from '@tocsin/shared/platform/lifecycle.ts';
import type { ArchiveStore } from '@tocsin/shared/ports/archive-store.ts';
import { accountErasures } from '@tocsin/shared/collections/account-erasures.ts';
import { removeTopicWrites } from '@tocsin/shared/collections/topic-cleanups.ts';
import { topics } from '@tocsin/shared/collections/topics.ts';
import { users } from '@tocsin/shared/collections/users.ts';
import { openArchiveDir } from '@tocsin/shared/testing/archive-dir.ts';
import { newId, newMessage, newTopic, newUser, testAudit } from '@tocsin/shared/testing/builders.ts';
import { engineUnderTest, openOwnEngine } from '@tocsin/shared/testing/test-engine.ts';
import { archiveManifest } from '@tocsin/shared/wire/archive-manifest.ts';
import { sweepDeps, withMethods } from '../sweep/sweep-deps.fixtures.ts';
import { cleanUpTopics } from './clean-up-topics.ts';
import { eraseAccounts } from './erase-accounts.ts';

const own = closers();
afterAll(() => own.closeAll());
const { engine } = await openOwnEngine(own);
const { documents } = engine;
const limit = { endsAt: Infinity, closing: new AbortController().signal };

/** Objects are forced to disk, which a busy machine delays by seconds. */
const patienceMs = 240_000;

describe(`erasure in the archive, ${engineUnderTest}`, () => {
  let archive: ArchiveStore;
  beforeEach(async () => {
    const opened = await openArchiveDir();
    own.add(() => opened.close());
    archive = opened.store;
  });

  const deps = (store = archive) => ({ ...sweepDeps(engine, () => Date.now() + 1), archive: store });
  /** The bucket keeps objects whose key contains the text. */
  const locking = (text: string) =>
    withMethods(archive, { remove: async (key) => (key.includes(text) ? 'locked' : archive.remove(key)) });

  async function put(topicId: string, given: readonly Partial<Message>[]): Promise<StoredMessage[]> {
    const stored = given.map((fields, offset) => ({ ...newMessage(topicId, fields), offset }));
    const topic = { id: topicId, name: 'alerts' };
    const source = async function* () {
      yield* stored;
    };
    for await (const _ of archiveMessages(archive, { topic, runId: newId(), now: Date.now() }, source()));
    return stored;
  }
  async function keysOf(topicId: string): Promise<string[]> {
    const found: string[] = [];
    for await (const key of archive.list(`topics/${topicId}/`)) found.push(key);
    return found;
  }
  /** The archived messages of the topic; checks their manifests. */
  async function read(topicId: string): Promise<StoredMessage[]> {
    const found: StoredMessage[] = [];
    for (const key of (await keysOf(topicId)).filter((one) => one.endsWith('.json'))) {
      let text = '';
      for await (const chunk of (await archive.get(key))!) text += Buffer.from(chunk).toString();
      const manifest = archiveManifest.parse(JSON.parse(text));
      const before = found.length;
      for await (const message of readArchivedMessages((await archive.get(manifest.object))!, key)) found.push(message);
      expect(manifest).toMatchObject({ topic: 'alerts', messages: found.length - before });
    }
    return found;
  }
  const deleteTopic = async () => {
    const topic = await documents.insert(topics, newTopic(newId()));
    await documents.commit(removeTopicWrites(topic, { id: newId(), now: Date.now() }));
    return topic.id;
  };
  const deleteAccount = async () => {
    const user = await documents.insert(users, newUser());
    await removeAccount(documents, user, { now: Date.now(), audit: testAudit });
    return user.id;
  };

  test(
    'the deletion of a topic removes its objects, also unfinished ones, and none of other topics',
    async () => {
      const [topicId, other] = [await deleteTopic(), newId()];
      await put(topicId, [{}, {}]);
      const kept = await put(other, [{}]);
      await archive.put(`topics/${topicId}/0000000000000009-${newId()}.ndjson.gz`, unfinished());
      await archive.put(`topics/${topicId}/0000000000000010-${newId()}.json`, unfinished());
      await cleanUpTopics(deps(), limit);
      expect(await keysOf(topicId)).toEqual([]);
      expect(await read(other)).toEqual(kept);
    },
    patienceMs,
  );

  test(
    'a locked object of a deleted topic stays with its manifest and is logged',
    async () => {
      const topicId = await deleteTopic();
      const stored = await put(topicId, [{}]);
      const warned: object[] = [];
      const log = withMethods(deps().log, { warn: (fields: object) => void warned.push(fields) });
      await cleanUpTopics({ ...deps(locking(topicId)), log }, limit);
      expect(warned).toEqual([{ topicId, keptObjects: 1 }]);
      expect(await read(topicId)).toEqual(stored);
    },
    patienceMs,
  );

  test(
    'the deletion of an account removes its name and ID from archived messages of other topics',
    async () => {
      const [accountId, topicId, other] = [await deleteAccount(), newId(), newId()];
      const by = { kind: 'account', name: 'ann', accountId } as const;
      const acknowledgement = { at: 5, by, note: 'on my way' };
      const [published, acknowledged, unrelated] = await put(topicId, [
        { publishedBy: by },
        { ...noExtras, acknowledgement },
        { message: `about ${accountId}` },
      ]);
      const kept = await put(other, [{ publishedBy: { kind: 'account', name: 'bob', accountId: newId() } }]);
      const keptKeys = await keysOf(other);
      await eraseAccounts(deps(), limit);
      const nobody = { kind: 'account', name: null, accountId: null };
      expect(await read(topicId)).toEqual([
        { ...published!, publishedBy: nobody },
        { ...acknowledged!, acknowledgement: { at: 5, by: nobody, note: null } },
        unrelated,
      ]);
      expect(await read(other)).toEqual(kept);
      expect(await keysOf(other)).toEqual(keptKeys);
      expect(await documents.get(accountErasures, accountId)).toBeNull();
    },
    patienceMs,
  );

  test(
    'locked and damaged objects stay and are logged, and a store that is down delays the erasure',
    async () => {
      const [accountId, topicId] = [await deleteAccount(), newId()];
      const stored = await put(topicId, [{ publishedBy: { kind: 'account', name: 'ann', accountId } }]);
      const [object] = await keysOf(topicId);
      const damaged = newId();
      await put(damaged, [{}]);
      const [, damagedObject] = await keysOf(damaged);
      await archive.put(damagedObject!, unfinished());
      const down = withMethods(archive, {
        list: () => {
          throw unavailable('Archive');
        },
      });
      await eraseAccounts(deps(down), limit);
      expect(await documents.get(accountErasures, accountId)).not.toBeNull();
      const warned: object[] = [];
      const log = withMethods(deps().log, { warn: (fields: object) => void warned.push(fields) });
      await eraseAccounts({ ...deps(locking(object!.replace('.json', ''))), log }, limit);
      expect(warned).toEqual([{ userId: accountId, keptObjects: 2 }]);
      expect(await read(topicId)).toEqual(stored);
      expect(await documents.get(accountErasures, accountId)).toBeNull();
    },
    patienceMs,
  );
});

async function* unfinished(): AsyncGenerator<Uint8Array, void> {
  yield Buffer.from('x');
}
