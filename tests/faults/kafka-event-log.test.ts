import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newTopicName, testOptions } from '@tocsin/shared/drivers/cluster/kafka/kafka-event-log.place.ts';
import { openKafkaEventLog } from '@tocsin/shared/drivers/cluster/kafka/kafka-event-log.ts';
import {
  collector,
  expectGrowing,
  newGroup,
  readAll,
  testRecord,
} from '@tocsin/shared/contracts/event-log/event-log.fixtures.ts';
import type { EventLog } from '@tocsin/shared/ports/event-log.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { describeWithOwnEngines } from '../../tools/engines/describe-with-own-engines.ts';
import { startKafka, type KafkaEngine } from '../../tools/engines/start-kafka.ts';

const slow = 120_000;

interface Attempt {
  readonly publisher: number;
  readonly id: string;
  readonly offset: number | null;
  readonly at: number;
  readonly ms: number;
}

/** Publishers that continue after any error until they are stopped. */
function startPublishers(log: EventLog, count: number) {
  const attempts: Attempt[] = [];
  let isStopped = false;
  const publish = async (publisher: number): Promise<void> => {
    while (!isStopped) {
      const record = testRecord();
      const begun = performance.now();
      const offset = await log.append(publisher % log.partitions, record, 'alarms').catch(() => null);
      const at = performance.now();
      attempts.push({ publisher, id: record.message.id, offset, at, ms: at - begun });
      await new Promise((resolve) => setTimeout(resolve, offset === null ? 20 : 2));
    }
  };
  const running = Array.from({ length: count }, (_, publisher) => publish(publisher));
  return {
    attempts,
    acknowledged: () => attempts.filter(({ offset }) => offset !== null),
    stop: async () => {
      isStopped = true;
      await Promise.all(running);
    },
  };
}

describeWithOwnEngines('the event log on a failing broker', () => {
  let kafka: KafkaEngine;

  beforeAll(async () => {
    kafka = await startKafka({ report: () => undefined });
  }, slow);
  afterAll(async () => {
    await kafka.stop();
  }, slow);

  const throughAnOutage = async (begin: () => Promise<void>, end: () => Promise<void>) => {
    const log = await openKafkaEventLog(testOptions(kafka.url, newTopicName()));
    try {
      const reader = collector();
      await log.consume({ group: newGroup(), onBatch: reader.onBatch });
      const publishers = startPublishers(log, 16);
      await eventually(() => publishers.acknowledged().length > 200);
      await begin();
      const downAt = performance.now();
      const failedFast = () =>
        publishers.attempts.filter(({ offset, at, ms }) => offset === null && at > downAt && ms < 100).length;
      await eventually(() => failedFast() > 50);
      await end();
      const upAt = performance.now();
      await eventually(() => publishers.acknowledged().some(({ at }) => at > upAt), { timeoutMs: 5_000 });
      const target = publishers.acknowledged().length + 200;
      await eventually(() => publishers.acknowledged().length > target);
      await publishers.stop();
      const acknowledged = publishers.acknowledged();
      await eventually(() => {
        const ids = reader.ids();
        expect(acknowledged.filter(({ id }) => !ids.has(id)).length).toBe(0);
      });
      return { log, acknowledged };
    } catch (error) {
      await log.close();
      throw error;
    }
  };

  const expectKept = async ({ log, acknowledged }: { log: EventLog; acknowledged: Attempt[] }): Promise<void> => {
    const ends = await Promise.all([0, 1, 2].map((partition) => log.end(partition)));
    const seen = await readAll(
      log,
      ends.reduce((sum, one) => sum + one, 0),
    );
    const places = new Set(seen.map(({ partition, offset, record }) => `${partition}:${offset}:${record.message.id}`));
    for (const { publisher, id, offset } of acknowledged)
      expect(places.has(`${publisher % 3}:${offset}:${id}`)).toBe(true);
    for (const own of Map.groupBy(acknowledged, ({ publisher }) => publisher).values())
      expectGrowing(own.map(({ offset }) => offset!));
    await log.close();
  };

  test(
    'keeps acknowledged records when the broker is killed, and publishes within five seconds of its return',
    async () => {
      await expectKept(
        await throughAnOutage(
          () => kafka.kill(),
          () => kafka.restart(),
        ),
      );
    },
    slow,
  );

  test(
    'keeps acknowledged records when the broker is suspended, and publishes within five seconds of its resumption',
    async () => {
      const pause = async (): Promise<void> => kafka.pause();
      const resume = async (): Promise<void> => kafka.resume();
      await expectKept(await throughAnOutage(pause, resume));
    },
    slow,
  );
});
