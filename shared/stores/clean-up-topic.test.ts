import { expect, test } from '@jest/globals';
import { topicNameKey, type Topic } from '../domain/topic.ts';
import { newMember, newMessage, newSubscription, newTeam, newTopic, newId } from '../testing/builders.ts';
import { publish } from '../testing/test-engine.ts';
import { useTestEngine } from '../testing/use-test-engine.ts';
import { cleanUpTopic, topicsToCleanUp } from './clean-up-topic.ts';
import { topicTokens } from './credentials.ts';
import { subscriptions } from './subscriptions-collection.ts';
import { teamMembers, teams } from './teams.ts';
import { removeTopicWrites, topicCleanups } from './topic-cleanups.ts';
import { topics } from './topics.ts';

const engine = await useTestEngine();

/** As configured by default. */
const settleMs = 60_000;

const addSubscription = (topicId: string, userId = newId()) => engine.documents.insert(subscriptions, newSubscription(userId, topicId));
const subscribed = (topicId: string) => engine.documents.count(subscriptions, { index: 'byTopic', equals: { topicId } });
const addTopic = (given: Partial<Topic> = {}) => engine.documents.insert(topics, newTopic(given.ownerId ?? newId(), given));
const addCleanup = (topicId: string, kind: 'erase' | 'prune') =>
  engine.documents.insert(topicCleanups, { id: newId(), topicId, kind, requestedAt: Date.now() });

test('nothing of a deleted topic is left, and nothing of another is touched', async () => {
  const { documents, messages } = engine;
  const [gone, kept] = [await addTopic(), await addTopic()];
  for (const topic of [gone, kept]) {
    await addSubscription(topic.id);
    await documents.insert(topicTokens, {
      id: newId(), topicId: topic.id, createdBy: newId(), name: 't', secretHash: newId(), permissions: ['read'], createdAt: 1, expiresAt: null, lastUsedAt: null,
    });
    for (let sent = 0; sent < 3; sent++) await publish(engine, topic, newMessage(topic.id));
  }
  const now = Date.now();
  await documents.commit(removeTopicWrites(gone, { id: newId(), now }));
  expect(await cleanUpTopic(engine, gone.id, { now, batchesMax: 100, settleMs })).toEqual({ removed: 5, hasMore: false });
  const left = async (topic: Topic) => [
    await subscribed(topic.id),
    await documents.count(topicTokens, { index: 'byTopic', equals: { topicId: topic.id } }),
    (await messages.newest(topic.id, { limit: 10, now })).length,
  ];
  expect(await left(gone)).toEqual([0, 0, 0]);
  expect(await left(kept)).toEqual([1, 1, 3]);
});

test('an erasure goes on where it stopped, and is done when what came late is gone too', async () => {
  const topic = await addTopic();
  for (let made = 0; made < 3; made++) await addSubscription(topic.id);
  await publish(engine, topic, newMessage(topic.id));
  const now = Date.now();
  await engine.documents.commit(removeTopicWrites(topic, { id: newId(), now }));
  expect(await cleanUpTopic(engine, topic.id, { now, batchesMax: 1, settleMs })).toEqual({ removed: 3, hasMore: true });
  expect(await cleanUpTopic(engine, topic.id, { now, batchesMax: 100, settleMs })).toEqual({ removed: 1, hasMore: false });
  await publish(engine, topic, newMessage(topic.id));
  expect(await topicsToCleanUp(engine.documents, 1_000)).toContain(topic.id);
  expect(await cleanUpTopic(engine, topic.id, { now: now + settleMs, batchesMax: 100, settleMs })).toEqual({ removed: 1, hasMore: false });
  expect(await topicsToCleanUp(engine.documents, 1_000)).not.toContain(topic.id);
});

test('a topic that exists is never erased', async () => {
  const topic = await addTopic();
  await addSubscription(topic.id);
  await addCleanup(topic.id, 'erase');
  await expect(cleanUpTopic(engine, topic.id, { now: Date.now(), batchesMax: 100, settleMs })).rejects.toThrow('exists');
  expect(await subscribed(topic.id)).toBe(1);
});

test('behind a closed topic only those who may read it keep their subscription', async () => {
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
  expect(await cleanUpTopic(engine, ofTeam.id, { now: Date.now(), batchesMax: 100, settleMs })).toEqual({ removed: 701, hasMore: false });
  const left = await documents.find(subscriptions, { index: 'byTopic', equals: { topicId: ofTeam.id }, limit: 10 });
  expect(left.map(({ userId }) => userId).sort()).toEqual(readers.sort());
  expect((await documents.get(topics, ofTeam.id))!.subscriberCount).toBe(2);
  expect(await topicsToCleanUp(documents, 1_000)).not.toContain(ofTeam.id);
});

test('a topic that was opened again loses no subscription', async () => {
  const name = `Open-${newId()}`;
  const topic = await addTopic({ name, nameKey: topicNameKey(name) });
  await addSubscription(topic.id);
  await addCleanup(topic.id, 'prune');
  expect(await cleanUpTopic(engine, topic.id, { now: Date.now(), batchesMax: 100, settleMs })).toEqual({ removed: 0, hasMore: false });
  expect(await subscribed(topic.id)).toBe(1);
});
