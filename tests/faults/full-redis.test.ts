import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import { closers, type Closers } from '@tocsin/shared/platform/lifecycle.ts';
import type { Engine } from '@tocsin/shared/ports/engine.ts';
import { addSubscribers } from '@tocsin/shared/testing/add-subscribers.ts';
import { describeWithEngines } from '@tocsin/shared/testing/describe-with-engines.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { printMeasurements } from '@tocsin/shared/testing/figures.ts';
import { startExpoSimulator, type ExpoSimulator } from '@tocsin/simulators/expo-simulator.ts';
import { startRedis } from '../../tools/engines/start-redis.ts';
import { addTopic, newPushPlace, publishTo, type PushPlace } from './push-place.ts';

/** More than the notifier processes at a time. */
const messagesBefore = 30;
const messagesWhileFull = Number(process.env['TOCSIN_FULL_REDIS_MESSAGES'] ?? 50);
const devicesEach = 20;
const limitBytes = 16_000_000;
/** Its jobs, 1.4 kB each, take more than the free part of the memory. */
const backlog = 2_200;
const freePart = 0.16;
const publishersMax = 50;
const patienceMs = 180_000;

describeWithEngines('pushes while Redis has no free memory', (engines) => {
  let own: Closers;
  let redis: Redis;
  let place: PushPlace;
  let expo: ExpoSimulator;
  let latencyMs: number;
  beforeEach(async () => {
    own = closers();
    const server = await startRedis({ report: () => undefined });
    own.add(() => server.stop());
    redis = new Redis(server.url);
    own.add(() => redis.disconnect());
    place = newPushPlace({ ...engines, redisUrl: server.url }, own);
    latencyMs = 3_000; // jobs run when the memory is full
    expo = await startExpoSimulator({
      get latencyMs() {
        return latencyMs;
      },
    });
    own.add(() => expo.close());
  });
  afterEach(() => own.closeAll());

  /** The receipts of accepted pushes wait only for a second, because their jobs take memory too. */
  const startNotifier = () => place.startNotifier({ EXPO_URL: expo.url, EXPO_RECEIPT_SECONDS: '1' });
  const reached = (): number => new Set(expo.pushes.map(({ token, messageId }) => `${token} ${messageId}`)).size;
  const allReached = (due: number): Promise<unknown> =>
    eventually(async () => reached() === due && (await place.jobsLeft()) === 0, {
      timeoutMs: 2 * patienceMs,
      intervalMs: 250,
    });

  test(
    'publishes are accepted, and every push is sent once when memory is free again',
    () =>
      place.withEngine(async (engine) => {
        const topic = await topicWithDevices(engine, devicesEach);
        startNotifier();
        const messageIds = await publishEach(engine, topic, messagesBefore);
        await eventually(() => expo.pushes.length > 0, { timeoutMs: patienceMs, intervalMs: 5 });
        await redis.config('SET', 'maxmemory', String(limitBytes));
        const filling = await fill(redis);
        const sentBefore = expo.pushes.length;
        messageIds.push(...(await publishEach(engine, topic, messagesWhileFull)));
        await eventually(async () => !(await engine.jobQueue.hasRoom()), { timeoutMs: patienceMs });
        const sentWhileFull = expo.pushes.length - sentBefore;

        latencyMs = 0;
        const freedAt = Date.now();
        await redis.unlink(filling);
        const due = messageIds.length * devicesEach;
        await allReached(due);
        printMeasurements('redis without free memory', {
          messagesWhileFull,
          pushes: due,
          sentBefore,
          sentWhileFull,
          missed: due - reached(),
          twice: expo.pushes.length - due,
          completeAfterMs: expo.pushes.at(-1)!.at - freedAt,
        });
        expect(sentBefore + sentWhileFull).toBeLessThan(due);
        expect(expo.pushes.length).toBe(due);
        for (const id of messageIds)
          expect(await engine.deliveries.counts(id)).toMatchObject({ sent: devicesEach, pending: 0, failed: 0 });
      }),
    6 * patienceMs,
  );

  test(
    'a backlog that does not fit into the memory waits in the log, and is sent once without more memory',
    () =>
      place.withEngine(async (engine) => {
        const topic = await topicWithDevices(engine, 1);
        startNotifier();
        await publishEach(engine, topic, 1);
        await eventually(() => expo.pushes.length > 0, { timeoutMs: patienceMs });
        await redis.config('SET', 'maxmemory', String(limitBytes));
        await fill(redis, limitBytes * (1 - freePart));
        await publishEach(engine, topic, backlog - 1);
        await eventually(async () => !(await engine.jobQueue.hasRoom()), { timeoutMs: patienceMs });
        const jobsAtMost = await place.jobsLeft();
        latencyMs = 0;
        const beganAt = Date.now();
        await allReached(backlog);
        printMeasurements('backlog larger than redis', {
          messages: backlog,
          jobsAtMost,
          missed: backlog - reached(),
          twice: expo.pushes.length - backlog,
          completeAfterMs: expo.pushes.at(-1)!.at - beganAt,
        });
        expect(expo.pushes.length).toBe(backlog);
      }),
    6 * patienceMs,
  );
});

async function topicWithDevices(engine: Engine, count: number): Promise<Topic> {
  const topic = await addTopic(engine);
  await addSubscribers(
    engine.documents,
    topic.id,
    Array.from({ length: count }, () => ({})),
  );
  return topic;
}

/** Publishes normal and urgent messages, and resolves with their IDs. */
async function publishEach(engine: Engine, topic: Topic, count: number): Promise<string[]> {
  const ids: string[] = [];
  while (ids.length < count) {
    const messages = await Promise.all(
      Array.from({ length: Math.min(publishersMax, count - ids.length) }, (_, n) =>
        publishTo(engine, topic, { priority: n % 2 === 0 ? 3 : 5 }),
      ),
    );
    ids.push(...messages.map(({ id }) => id));
  }
  return ids;
}

/** Fills Redis until it uses this much memory or rejects writes. Resolves with the keys. */
async function fill(redis: Redis, toBytes = Infinity): Promise<string[]> {
  const keys: string[] = [];
  const used = async (): Promise<number> => Number(/^used_memory:(\d+)/m.exec(await redis.info('memory'))![1]);
  const isStored = async (size: number): Promise<boolean> => {
    keys.push(`filling:${keys.length}`);
    return redis.set(keys.at(-1)!, 'x'.repeat(size)).then(
      () => true,
      () => false,
    );
  };
  for (let size = 100_000; size >= 1; size = Math.floor(size / 10))
    while ((await used()) + size <= toBytes && (await isStored(size)));
  return keys;
}
