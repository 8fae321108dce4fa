import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import {
  collector,
  expectGrowing,
  newGroup,
  readAll,
  testRecord,
} from '../../../contracts/event-log/event-log.fixtures.ts';
import { eventually } from '../../../testing/eventually.ts';
import { describeWithEngines } from '../../../testing/describe-with-engines.ts';
import { newTopicName, removeTopic, testOptions } from './kafka-event-log.place.ts';
import { openKafkaEventLog, type KafkaEventLog } from './kafka-event-log.ts';
import {
  apiKeys,
  heartbeatElsewhere,
  joinWhileLoading,
  startKafkaProxy,
  type KafkaProxy,
} from './kafka-proxy.fixtures.ts';

const slow = 180_000;

describeWithEngines('kafka: the event log during outages', ({ kafkaBrokers }) => {
  let topic: string;
  let proxy: KafkaProxy;
  let log: KafkaEventLog;

  beforeEach(async () => {
    topic = newTopicName();
    proxy = await startKafkaProxy(kafkaBrokers.split(',')[0]!);
    log = await openKafkaEventLog(testOptions(proxy.address, topic));
  });
  afterEach(async () => {
    await log.close();
    await proxy.close();
    await removeTopic(kafkaBrokers, topic);
  }, slow);

  /** Appends one record; resolves with outcome and duration. */
  const attempt = async (): Promise<{ offset?: number; error?: unknown; ms: number }> => {
    const begun = performance.now();
    try {
      const offset = await log.append(0, testRecord(), 'alarms');
      return { offset, ms: performance.now() - begun };
    } catch (error) {
      return { error, ms: performance.now() - begun };
    }
  };
  const appendUntilDone = async (): Promise<void> => {
    await eventually(async () => (await attempt()).offset !== undefined, { timeoutMs: 5_000, intervalMs: 50 });
  };

  describe('while the broker is down', () => {
    test(
      'fails appends within a second, later ones immediately, and succeeds within five seconds after recovery',
      async () => {
        await log.append(0, testRecord(), 'alarms');
        await proxy.refuse();
        const first = await attempt();
        expect(first.error).toMatchObject({ code: 'unavailable', message: 'Log is unavailable' });
        expect(first.ms).toBeLessThan(1_000);
        await eventually(async () => (await attempt()).ms < 50);
        const next = await Promise.all(Array.from({ length: 20 }, () => attempt()));
        for (const { error } of next) expect(error).toMatchObject({ code: 'unavailable' });
        expect(Math.min(...next.map(({ ms }) => ms))).toBeLessThan(50);
        await proxy.accept();
        await appendUntilDone();
      },
      slow,
    );

    test(
      'end and ping fail within their time limit and work again afterwards',
      async () => {
        const end = await log.end(0);
        await proxy.refuse();
        const begun = performance.now();
        await expect(log.ping()).rejects.toMatchObject({ code: 'unavailable' });
        await expect(log.end(0)).rejects.toMatchObject({ code: 'unavailable' });
        expect(performance.now() - begun).toBeLessThan(5_000);
        await proxy.accept();
        await log.ping();
        expect(await log.end(0)).toBe(end);
      },
      slow,
    );

    test(
      'a consumer waits and resumes at its offset',
      async () => {
        const reader = collector();
        await log.consume({ group: newGroup(), onBatch: reader.onBatch });
        const before = await log.append(0, testRecord(), 'alarms');
        await eventually(() => reader.offsets().includes(before));
        await proxy.refuse();
        await eventually(async () => (await attempt()).error !== undefined);
        await proxy.accept();
        await appendUntilDone();
        const after = await log.append(0, testRecord(), 'alarms');
        await eventually(() => reader.offsets().includes(after));
        expect([...new Set(reader.offsets())]).toEqual(Array.from({ length: after + 1 }, (_, offset) => offset));
      },
      slow,
    );
  });

  test(
    'appends to a silent broker fail at the send’s deadline with bounded memory, and succeed within five seconds after recovery',
    async () => {
      await log.append(0, testRecord(), 'alarms');
      proxy.hold();
      const attempts = Array.from({ length: 30_000 }, () => attempt());
      const outcomes = await Promise.all(attempts);
      const refusedAtOnce = outcomes.filter(({ error }) =>
        String((error as Error).cause).includes('records are already queued'),
      );
      expect(outcomes.every(({ error }) => error !== undefined)).toBe(true);
      expect(refusedAtOnce.length).toBe(20_000);
      // Five seconds plus the time of a busy machine for 30,000 errors.
      expect(Math.max(...outcomes.map(({ ms }) => ms))).toBeLessThan(25_000);
      await eventually(async () => (await attempt()).ms < 50);
      proxy.release();
      await appendUntilDone();
    },
    slow,
  );

  test(
    'rejects appends with lost responses, and keeps every acknowledged record, with 16 concurrent publishers',
    async () => {
      let produced = 0;
      proxy.onResponse = (apiKey) => (apiKey === apiKeys.produce && ++produced % 5 === 0 ? 'cut' : 'pass');
      const acknowledged: { publisher: number; id: string; offset: number }[] = [];
      let refused = 0;
      const publish = async (publisher: number): Promise<void> => {
        for (let n = 0; n < 60; n += 1) {
          const record = testRecord();
          try {
            const offset = await log.append(publisher % 3, record, 'alarms');
            acknowledged.push({ publisher, id: record.message.id, offset });
          } catch (error) {
            expect(error).toMatchObject({ code: 'unavailable' });
            refused += 1;
          }
        }
      };
      await Promise.all(Array.from({ length: 16 }, (_, publisher) => publish(publisher)));
      proxy.onResponse = () => 'pass';
      await appendUntilDone();

      expect(refused).toBeGreaterThan(0);
      expect(acknowledged.length).toBeGreaterThan(0);
      const ends = await Promise.all([0, 1, 2].map((partition) => log.end(partition)));
      const seen = await readAll(
        log,
        ends.reduce((sum, end) => sum + end, 0),
      );
      const placed = new Set(
        seen.map(({ partition, offset, record }) => `${partition}:${offset}:${record.message.id}`),
      );
      for (const { publisher, id, offset } of acknowledged)
        expect(placed.has(`${publisher % 3}:${offset}:${id}`)).toBe(true);
      for (const own of Map.groupBy(acknowledged, ({ publisher }) => publisher).values())
        expectGrowing(own.map(({ offset }) => offset));
      // No record was sent twice.
      expect(new Set(seen.map(({ record }) => record.message.id)).size).toBe(seen.length);
    },
    slow,
  );

  test(
    'a consumer recovers from a fetch without a response',
    async () => {
      const reader = collector();
      await log.consume({ group: newGroup(), onBatch: reader.onBatch });
      let swallowed = 0;
      proxy.onResponse = (apiKey) => (apiKey === apiKeys.fetch && swallowed++ === 0 ? 'swallow' : 'pass');
      await eventually(() => swallowed > 0);
      const offset = await log.append(0, testRecord(), 'alarms');
      await eventually(() => reader.offsets().includes(offset));
    },
    slow,
  );

  test(
    'a consumer that cannot rejoin, but still counts as a member, recovers',
    async () => {
      const reader = collector();
      await log.consume({ group: newGroup(), onBatch: reader.onBatch });
      const before = await log.append(0, testRecord(), 'alarms');
      await eventually(() => reader.offsets().includes(before));
      const answers = new Map<number, Buffer>([
        [apiKeys.heartbeat, heartbeatElsewhere],
        [apiKeys.joinGroup, joinWhileLoading],
      ]);
      // Responses of a restarted broker while it loads its groups: each once, the heartbeat first.
      proxy.onRequest = (apiKey) => {
        const answer = apiKey === apiKeys.joinGroup && answers.has(apiKeys.heartbeat) ? undefined : answers.get(apiKey);
        if (answer !== undefined) answers.delete(apiKey);
        return answer;
      };
      await eventually(() => answers.size === 0);
      const after = await log.append(0, testRecord(), 'alarms');
      await eventually(() => reader.offsets().includes(after));
      expect(reader.offsets()).toEqual(Array.from({ length: after + 1 }, (_, offset) => offset));
    },
    slow,
  );

  test(
    'fails to open with unreachable brokers and names them',
    async () => {
      await proxy.refuse();
      const begun = performance.now();
      await expect(openKafkaEventLog(testOptions(proxy.address, topic))).rejects.toThrow(
        `Kafka is unreachable at ${proxy.address}`,
      );
      expect(performance.now() - begun).toBeLessThan(15_000);
    },
    slow,
  );
});
