import { expect, test } from '@jest/globals';
import { topicNameKey, type Topic } from '../../domain/topics/topic.ts';
import {
  newMember,
  newMessage,
  newScheduledMessage,
  newSubscription,
  newTeam,
  newTopic,
  newId,
  newUser,
} from '../../testing/builders.ts';
import { publish } from '../../testing/test-engine.ts';
import { useTestEngine } from '../../testing/use-test-engine.ts';
import { endOfFormerLog } from './former-log.ts';
import { cleanUpTopic, topicsToCleanUp } from './clean-up-topic.ts';
import { topicTokens } from '../../collections/credentials.ts';
import { scheduledMessages } from '../../collections/messages/scheduled-messages.ts';
import { subscriptions } from '../../collections/subscriptions-collection.ts';
import { teamMembers, teams } from '../../collections/teams.ts';
import {
  findFormerTopic,
  newTopicCleanup,
  removeTopicWrites,
  topicCleanups,
} from '../../collections/topic-cleanups.ts';
import { topics } from '../../collections/topics.ts';
import { users } from '../../collections/users.ts';

const engine = await useTestEngine();
const deps = { ...engine, archive: null };

/** The default configuration. */
const lateWritesMs = 60_000;
const retentionDays = { FREE: 7, ESSENTIALS: 30, TEAM: 90 };

const addSubscription = (topicId: string, userId = newId()) =>
  engine.documents.insert(subscriptions, newSubscription(userId, topicId));
const subscribed = (topicId: string) =>
  engine.documents.count(subscriptions, { index: 'byTopic', equals: { topicId } });
const addTopic = (given: Partial<Topic> = {}) =>
  engine.documents.insert(topics, newTopic(given.ownerId ?? newId(), given));
const addCleanup = (topicId: string, kind: 'erase' | 'prune' | 'retain') =>
  engine.documents.insert(topicCleanups, newTopicCleanup({ id: newId(), topicId, kind, requestedAt: Date.now() }));

test('removes all data of a deleted topic and no data of others', async () => {
  const { documents, messages } = engine;
  const [gone, kept] = [await addTopic(), await addTopic()];
  for (const topic of [gone, kept]) {
    await addSubscription(topic.id);
    await documents.insert(topicTokens, {
      id: newId(),
      topicId: topic.id,
      createdBy: newId(),
      name: 't',
      secretHash: newId(),
      permissions: ['read'],
      createdAt: 1,
      expiresAt: null,
      lastUsedAt: null,
    });
    for (let sent = 0; sent < 3; sent++) await publish(engine, topic, newMessage(topic.id));
    await documents.insert(scheduledMessages, newScheduledMessage(topic));
  }
  const now = Date.now();
  await documents.commit(removeTopicWrites(gone, { id: newId(), now }));
  expect(
    await cleanUpTopic(deps, gone.id, { now, batchesMax: 100, lateWritesMs: lateWritesMs, retentionDays }),
  ).toEqual({
    removed: 6,
    hasMore: false,
    keptObjects: 0,
  });
  const left = async (topic: Topic) => [
    await subscribed(topic.id),
    await documents.count(topicTokens, { index: 'byTopic', equals: { topicId: topic.id } }),
    (await messages.newest(topic.id, { limit: 10, now })).length,
    ...(await documents.find(scheduledMessages, { index: 'byTopic', equals: { topicId: topic.id }, limit: 10 })).map(
      ({ state, message }) => [state, message.message],
    ),
  ];
  expect(await left(gone)).toEqual([0, 0, 0, ['dropped', '']]);
  expect(await left(kept)).toEqual([1, 1, 3, ['scheduled', 'the pump stopped']]);
});

test('resumes an erasure, and ends after late writes are removed', async () => {
  const topic = await addTopic();
  for (let made = 0; made < 3; made++) await addSubscription(topic.id);
  await publish(engine, topic, newMessage(topic.id));
  const now = Date.now();
  await engine.documents.commit(removeTopicWrites(topic, { id: newId(), now }));
  expect(await cleanUpTopic(deps, topic.id, { now, batchesMax: 1, lateWritesMs: lateWritesMs, retentionDays })).toEqual(
    {
      removed: 3,
      hasMore: true,
      keptObjects: 0,
    },
  );
  expect(
    await cleanUpTopic(deps, topic.id, { now, batchesMax: 100, lateWritesMs: lateWritesMs, retentionDays }),
  ).toEqual({
    removed: 1,
    hasMore: false,
    keptObjects: 0,
  });
  await publish(engine, topic, newMessage(topic.id));
  expect(await topicsToCleanUp(engine.documents, 1_000)).toContain(topic.id);
  expect(
    await cleanUpTopic(deps, topic.id, {
      now: now + lateWritesMs,
      batchesMax: 100,
      lateWritesMs: lateWritesMs,
      retentionDays,
    }),
  ).toEqual({ removed: 1, hasMore: false, keptObjects: 0 });
  expect(await topicsToCleanUp(engine.documents, 1_000)).not.toContain(topic.id);
});

test('keeps the end of the log of a deleted topic, also of records that arrive late', async () => {
  const { documents, messages } = engine;
  const topic = await addTopic({ formerEnd: 2 });
  const now = Date.now();
  const ends = async () => {
    const former = (await findFormerTopic(documents, topic.nameKey))!;
    return [former.logEnd, await endOfFormerLog(messages, former)];
  };
  const cleanUp = () => cleanUpTopic(deps, topic.id, { now, batchesMax: 100, lateWritesMs, retentionDays });
  await documents.commit(removeTopicWrites(topic, { id: newId(), now }));
  expect(await ends()).toEqual([null, 2]);
  const publishOne = async () => {
    await publish(engine, topic, newMessage(topic.id));
    return (await messages.lastOffsets([topic.id])).get(topic.id)! + 1;
  };
  const first = await publishOne();
  expect(await ends()).toEqual([null, Math.max(first, 2)]);
  await cleanUp();
  expect(await ends()).toEqual([first, Math.max(first, 2)]);
  const second = await publishOne();
  expect(await ends()).toEqual([first, second]);
  await cleanUp();
  await cleanUp();
  expect(await ends()).toEqual([second, second]);
});

test('never erases an existing topic', async () => {
  const topic = await addTopic();
  await addSubscription(topic.id);
  await addCleanup(topic.id, 'erase');
  await expect(
    cleanUpTopic(deps, topic.id, { now: Date.now(), batchesMax: 100, lateWritesMs: lateWritesMs, retentionDays }),
  ).rejects.toThrow('exists');
  expect(await subscribed(topic.id)).toBe(1);
});

test('keeps only subscriptions of permitted readers after a topic becomes private', async () => {
  const { documents } = engine;
  const owner = newId();
  const team = await documents.insert(teams, newTeam(owner));
  const member = newId();
  await documents.insert(teamMembers, newMember(team.id, member));
  const ofTeam = await addTopic({ ownerId: owner, teamId: team.id, accessLevel: 'private', subscriberCount: 703 });
  const readers = [owner, member];
  for (const userId of readers) await addSubscription(ofTeam.id, userId);
  await Promise.all(Array.from({ length: 701 }, () => addSubscription(ofTeam.id)));
  await addCleanup(ofTeam.id, 'prune');
  expect(
    await cleanUpTopic(deps, ofTeam.id, {
      now: Date.now(),
      batchesMax: 100,
      lateWritesMs: lateWritesMs,
      retentionDays,
    }),
  ).toEqual({
    removed: 701,
    hasMore: false,
    keptObjects: 0,
  });
  const left = await documents.find(subscriptions, { index: 'byTopic', equals: { topicId: ofTeam.id }, limit: 10 });
  expect(left.map(({ userId }) => userId).sort()).toEqual(readers.sort());
  expect((await documents.get(topics, ofTeam.id))!.subscriberCount).toBe(2);
  expect(await topicsToCleanUp(documents, 1_000)).not.toContain(ofTeam.id);
});

test('keeps all subscriptions of a topic that became public again', async () => {
  const name = `Open-${newId()}`;
  const topic = await addTopic({ name, nameKey: topicNameKey(name) });
  await addSubscription(topic.id);
  await addCleanup(topic.id, 'prune');
  expect(
    await cleanUpTopic(deps, topic.id, {
      now: Date.now(),
      batchesMax: 100,
      lateWritesMs: lateWritesMs,
      retentionDays,
    }),
  ).toEqual({
    removed: 0,
    hasMore: false,
    keptObjects: 0,
  });
  expect(await subscribed(topic.id)).toBe(1);
});

test('applies a changed retention to stored messages in batches, and again after late writes', async () => {
  const { documents, messages } = engine;
  const dayMs = 86_400_000;
  const owner = await documents.insert(users, newUser({ tier: 'TEAM' }));
  const topic = await documents.insert(topics, newTopic(owner.id, { retentionDays: 10 }));
  const timestamp = Date.now() - 5 * dayMs;
  const store = async (count: number) => {
    for (let n = 0; n < count; n += 1)
      await publish(engine, topic, newMessage(topic.id, { timestamp, expiresAt: timestamp + 90 * dayMs }));
  };
  const lifetimes = async () =>
    (await messages.newest(topic.id, { limit: 1_000, now: Date.now() })).map(
      ({ expiresAt }) => (expiresAt - timestamp) / dayMs,
    );
  await store(450);
  await addCleanup(topic.id, 'retain');
  const now = Date.now();
  const clean = (batchesMax: number, at = now) =>
    cleanUpTopic(deps, topic.id, { now: at, batchesMax, lateWritesMs: lateWritesMs, retentionDays });
  expect(await clean(2)).toEqual({ removed: 0, hasMore: true, keptObjects: 0 });
  expect((await lifetimes()).filter((days) => days === 10)).toHaveLength(400);
  expect(await clean(2)).toEqual({ removed: 0, hasMore: false, keptObjects: 0 });
  expect(new Set(await lifetimes())).toEqual(new Set([10]));
  await store(3); // accepted by a node with a stale cache
  // A stalled run with the previous setting writes to messages that this run has already processed.
  const late = { lifetimeMs: 90 * dayMs, onlyLonger: false, after: -1, limit: 200, now };
  expect(await messages.changeLifetime(topic.id, late)).not.toBeNull();
  expect((await lifetimes()).filter((days) => days === 90)).toHaveLength(203);
  expect(await clean(2, now + lateWritesMs)).toEqual({ removed: 0, hasMore: true, keptObjects: 0 });
  expect(await clean(2, now + lateWritesMs)).toEqual({ removed: 0, hasMore: false, keptObjects: 0 });
  expect(new Set(await lifetimes())).toEqual(new Set([10]));
  expect(await documents.count(topicCleanups, { index: 'byTopic', equals: { topicId: topic.id } })).toBe(0);

  // Without a topic setting, nothing is shortened, even if the owner's tier now grants less.
  await documents.update(users, owner, { tier: 'FREE' });
  await documents.update(topics, { id: topic.id, version: 1 }, { retentionDays: null });
  await addCleanup(topic.id, 'retain');
  await clean(100);
  expect(new Set(await lifetimes())).toEqual(new Set([10]));
});
