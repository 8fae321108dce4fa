import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { cleanUpTopicJob, retentionQueue } from '@tocsin/shared/domain/retention-job.ts';
import type { Topic } from '@tocsin/shared/domain/topic.ts';
import type { Engine } from '@tocsin/shared/ports/engine.ts';
import { closers, type Closers } from '@tocsin/shared/platform/lifecycle.ts';
import { openLog } from '@tocsin/shared/platform/log.ts';
import { removeTopicWrites } from '@tocsin/shared/stores/topic-cleanups.ts';
import { subscriptions } from '@tocsin/shared/stores/subscriptions-collection.ts';
import { topics } from '@tocsin/shared/stores/topics.ts';
import { newId, newMessage, newSubscription, newTopic } from '@tocsin/shared/testing/builders.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { engineUnderTest, enginesUnderTest, newTestPlace, openTestEngine, publish } from '@tocsin/shared/testing/test-engine.ts';
import { startRetention } from './start-retention.ts';

const log = openLog('test', process.env['TEST_LOG_LEVEL'] ?? 'silent');
const dayMs = 86_400_000;

describe(`retention, ${engineUnderTest}`, () => {
  let own: Closers;
  let engine: Engine;
  let aheadMs: number;
  const clock = (): number => Date.now() + aheadMs;

  beforeEach(async () => {
    own = closers();
    aheadMs = 0;
    const place = newTestPlace(enginesUnderTest());
    own.add(() => place.remove());
    engine = await openTestEngine(place, clock);
    own.add(() => engine.close());
  });
  afterEach(() => own.closeAll());

  const start = async (schedule = '1s'): Promise<void> => {
    const retention = await startRetention({ engine, config: { RETENTION_SCHEDULE: schedule }, log, clock });
    own.add(() => retention.close());
  };
  const insertTopic = (given: Partial<Topic> = {}): Promise<Topic> => engine.documents.insert(topics, newTopic(newId(), given));

  test('removes what has expired and nothing else, and nothing of a topic under legal hold', async () => {
    const [topic, held] = [await insertTopic(), await insertTopic({ isHeld: true })];
    const [short, long, kept] = [newMessage(topic.id, { expiresAt: Date.now() + dayMs }), newMessage(topic.id), newMessage(held.id, { expiresAt: Date.now() + dayMs })];
    await publish(engine, topic, short);
    await publish(engine, topic, long);
    await publish(engine, held, kept);
    aheadMs = 2 * dayMs;
    await start();
    await eventually(async () => expect(await engine.messages.find(short.id)).toBeNull());
    expect(await engine.messages.find(long.id)).not.toBeNull();
    expect(await engine.messages.find(kept.id)).not.toBeNull();
  });

  test('removes more than a batch in one run', async () => {
    const topic = await insertTopic();
    const expiresAt = Date.now() + dayMs;
    await Promise.all(Array.from({ length: 4_500 }, () => publish(engine, topic, newMessage(topic.id, { expiresAt }))));
    aheadMs = 2 * dayMs;
    await start();
    await eventually(async () => expect((await engine.messages.topicStats([topic.id])).get(topic.id)!.messageCount).toBe(0));
  });

  test('erases what a deleted topic left behind when its job comes', async () => {
    const topic = await insertTopic();
    await publish(engine, topic, newMessage(topic.id));
    const subscription = await engine.documents.insert(subscriptions, newSubscription(newId(), topic.id));
    await start('1d');
    await engine.documents.commit(removeTopicWrites(topic, { id: newId(), now: clock() }));
    await engine.jobQueue.add(retentionQueue, [cleanUpTopicJob(newId(), topic.id, 0)]);
    await eventually(async () => expect(await engine.messages.lastOffset(topic.id)).toBe(-1));
    expect(await engine.documents.get(subscriptions, subscription.id)).toBeNull();
  });

  test('erases what a deleted topic left behind without a job, too', async () => {
    const topic = await insertTopic();
    await publish(engine, topic, newMessage(topic.id));
    await engine.documents.commit(removeTopicWrites(topic, { id: newId(), now: clock() }));
    await start();
    await eventually(async () => expect(await engine.messages.lastOffset(topic.id)).toBe(-1));
  });

  test('a schedule that is none is told at the start', async () => {
    await expect(startRetention({ engine, config: { RETENTION_SCHEDULE: 'often' }, log, clock })).rejects.toThrow('RETENTION_SCHEDULE');
  });
});
