import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newTopicName, testOptions } from '@tocsin/shared/drivers/cluster/kafka/kafka-event-log.place.ts';
import { kafkaGroupId } from '@tocsin/shared/drivers/cluster/kafka/kafka-group-id.ts';
import { openKafkaEventLog } from '@tocsin/shared/drivers/cluster/kafka/kafka-event-log.ts';
import { collector, newGroup, testRecord } from '@tocsin/shared/contracts/event-log/event-log.fixtures.ts';
import type { EventLog, LogHealth } from '@tocsin/shared/ports/event-log.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { percentile, printMeasurements } from '@tocsin/shared/testing/figures.ts';
import { Kafka, logLevel, type Admin } from 'kafkajs';
import { describeWithOwnEngines } from '../../tools/engines/describe-with-own-engines.ts';
import { startKafka, type KafkaEngine } from '../../tools/engines/start-kafka.ts';

const slow = 180_000;
const partitions = 6;
/** The node that the tests kill or stop, by its ID. */
const lostId = 2;

interface Attempt {
  readonly partition: number;
  readonly id: string;
  readonly isAccepted: boolean;
  readonly endedAt: number;
  readonly ms: number;
}

/** One publisher per partition, which continues after any error until it is stopped. */
function startPublishers(log: EventLog) {
  const attempts: Attempt[] = [];
  let isStopped = false;
  const publish = async (partition: number): Promise<void> => {
    while (!isStopped) {
      const record = testRecord();
      const begunAt = performance.now();
      const isAccepted = await log.append(partition, record, 'alarms').then(
        () => true,
        () => false,
      );
      const endedAt = performance.now();
      attempts.push({ partition, id: record.message.id, isAccepted, endedAt, ms: endedAt - begunAt });
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  const running = Array.from({ length: partitions }, (_, partition) => publish(partition));
  return {
    attempts,
    hasAcceptedSince: (partition: number, since: number) =>
      attempts.some((attempt) => attempt.partition === partition && attempt.isAccepted && attempt.endedAt > since),
    stop: async () => {
      isStopped = true;
      await Promise.all(running);
    },
  };
}

/** Reads the log, and notes when each record was read. */
async function startReader(log: EventLog, group: string) {
  const readAt = new Map<string, number>();
  const consumption = await log.consume({
    group,
    onBatch: ({ records }) => {
      for (const { record } of records) readAt.set(record.message.id, performance.now());
      return Promise.resolve();
    },
  });
  return { readAt, close: () => consumption.close() };
}

/** Pings the log all the time. */
function startPings(log: EventLog) {
  const answers: (LogHealth | 'down')[] = [];
  let isStopped = false;
  const pinging = (async () => {
    while (!isStopped) {
      answers.push(await log.ping().catch(() => 'down' as const));
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  })();
  return {
    answers,
    stop: async () => {
      isStopped = true;
      await pinging;
    },
  };
}

/** The partition of Kafka's internal topic whose leader coordinates the group. */
function coordinatingPartition(groupId: string, count: number): number {
  let hash = 0;
  for (const character of groupId) hash = (Math.imul(hash, 31) + character.charCodeAt(0)) | 0;
  return (hash & 0x7f_ff_ff_ff) % count;
}

describeWithOwnEngines('the event log on three brokers, of which one is lost', () => {
  let kafka: KafkaEngine;
  let admin: Admin;
  beforeAll(async () => {
    kafka = await startKafka({ nodes: 3, heapMb: 256, properties: { 'broker.session.timeout.ms': '4000' } });
    const brokers = kafka.url.split(',').filter((_, index) => index !== lostId - 1);
    admin = new Kafka({ brokers, logLevel: logLevel.NOTHING }).admin();
    await admin.connect();
  }, slow);
  afterAll(async () => {
    await admin?.disconnect();
    await kafka?.stop();
  }, slow);

  const open = (topic: string, replication: number) =>
    openKafkaEventLog({ ...testOptions(kafka.url, topic), brokers: kafka.url.split(','), partitions, replication });

  /** Splits the partitions of the topic by their leader. */
  async function leaders(topic: string) {
    const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
    const all = topics[0]!.partitions;
    const ofLost = all.filter(({ leader }) => leader === lostId).map(({ partitionId }) => partitionId);
    const ofOthers = all.map(({ partitionId }) => partitionId).filter((partition) => !ofLost.includes(partition));
    return { ofLost, ofOthers, isElected: all.every(({ leader }) => leader >= 0 && leader !== lostId) };
  }

  /** A group that the lost broker coordinates, and another one. A broker that was down coordinates none for minutes. */
  async function groupsOf(topic: string): Promise<string[]> {
    const { topics } = await admin.fetchTopicMetadata({ topics: ['__consumer_offsets'] });
    const all = topics[0]!.partitions;
    const isOfLost = (group: string) => {
      const partition = coordinatingPartition(kafkaGroupId(topic, group), all.length);
      return all.find(({ partitionId }) => partitionId === partition)!.leader === lostId;
    };
    const groups = Array.from({ length: 1_000 }, newGroup);
    return [groups.find(isOfLost)!, groups.find((group) => !isOfLost(group))!];
  }

  test(
    'without replicas, the other partitions accept and deliver records while one broker is down, and the log stays ready',
    async () => {
      const topic = newTopicName();
      const log = await open(topic, 1);
      const pings = startPings(log);
      try {
        const { ofLost, ofOthers } = await leaders(topic);
        expect([ofLost.length, ofOthers.length]).toEqual([2, 4]);
        await (await startReader(log, newGroup())).close(); // the first member creates Kafka's topic of offsets
        const groups = await groupsOf(topic);
        const readers = await Promise.all(groups.map((group) => startReader(log, group)));
        const publishers = startPublishers(log);
        await eventually(() => ofLost.every((partition) => publishers.hasAcceptedSince(partition, 0)));
        await eventually(() => readers.every(({ readAt }) => readAt.size > 50));
        await kafka.nodes[lostId - 1]!.kill();
        const lostAt = performance.now();
        await eventually(
          () => publishers.attempts.some((attempt) => ofLost.includes(attempt.partition) && !attempt.isAccepted),
          { timeoutMs: 60_000 },
        );
        // A reader that starts now reads the partitions that have a leader.
        const reader = collector();
        const consumption = await log.consume({ group: newGroup(), startAt: async () => 0, onBatch: reader.onBatch });
        await eventually(
          () => {
            const read = new Set(reader.seen.map(({ partition }) => partition));
            return ofOthers.every((partition) => read.has(partition) && publishers.hasAcceptedSince(partition, lostAt));
          },
          { timeoutMs: 60_000 },
        );
        await eventually(() => expect(pings.answers.at(-1)).toEqual({ unavailablePartitions: 2 }));
        const upAt = performance.now();
        await kafka.nodes[lostId - 1]!.restart();
        const backAt = performance.now();
        await eventually(() => ofLost.every((partition) => publishers.hasAcceptedSince(partition, backAt)), {
          timeoutMs: 60_000,
        });
        await publishers.stop();
        const refused = publishers.attempts.filter(({ isAccepted }) => !isAccepted);
        expect(refused.filter(({ partition }) => ofOthers.includes(partition))).toEqual([]);
        const accepted = publishers.attempts.filter(({ isAccepted }) => isAccepted);
        // The consumers are members of their groups throughout: a new session would take longer.
        const unread = () => accepted.filter(({ id }) => !readers.every(({ readAt }) => readAt.has(id)));
        await eventually(() => expect(unread()).toEqual([]), { timeoutMs: 8_000 });
        const during = accepted.filter(
          ({ partition, endedAt }) => ofOthers.includes(partition) && endedAt > lostAt && endedAt < upAt,
        );
        const appendMaxMs = Math.max(...during.map(({ ms }) => ms));
        const readDelaysMs = readers.map(({ readAt }) => during.map(({ id, endedAt }) => readAt.get(id)! - endedAt));
        const readDelaysP90Ms = readDelaysMs.map((delays) => percentile(delays, 0.9)!);
        const readDelaysMaxMs = readDelaysMs.map((delays) => Math.max(...delays));
        const measured = { read: during.length, readDelaysP90Ms, readDelaysMaxMs, appendMaxMs };
        printMeasurements('broker lost without replicas', measured);
        expect(Math.max(...readDelaysMaxMs)).toBeLessThan(1_500 + 4 * appendMaxMs);
        expect(Math.max(...readDelaysP90Ms)).toBeLessThan(100 + 4 * appendMaxMs);
        await Promise.all([...readers.map((one) => one.close()), consumption.close(), pings.stop()]);
        expect(pings.answers).not.toContain('down');
      } finally {
        await pings.stop();
        await log.close();
      }
    },
    slow,
  );

  test.each(['killed', 'silent'] as const)(
    'while a broker is %s, the partitions of the others refuse nothing, its own continue after the election, and nothing accepted is lost',
    async (name) => {
      const node = kafka.nodes[lostId - 1]!;
      await eventually(async () => expect((await admin.describeCluster()).brokers).toHaveLength(3));
      const topic = newTopicName();
      const log = await open(topic, 3);
      try {
        const { ofLost, ofOthers } = await leaders(topic);
        expect([ofLost.length, ofOthers.length]).toEqual([2, 4]);
        const publishers = startPublishers(log);
        await eventually(() => ofLost.every((partition) => publishers.hasAcceptedSince(partition, 0)));
        const lostAt = performance.now();
        if (name === 'killed') await node.kill();
        else node.pause();
        await eventually(async () => (await leaders(topic)).isElected, { timeoutMs: 60_000 });
        const electedAt = performance.now();
        await eventually(() => ofLost.every((partition) => publishers.hasAcceptedSince(partition, electedAt)));
        const lateMs = performance.now() - electedAt;
        await publishers.stop();
        const ofHealthy = publishers.attempts.filter(({ partition }) => ofOthers.includes(partition));
        const healthyMaxMs = Math.max(...ofHealthy.filter(({ endedAt }) => endedAt > lostAt).map(({ ms }) => ms));
        printMeasurements(`broker ${name} with replicas`, { electionMs: electedAt - lostAt, lateMs, healthyMaxMs });
        expect(ofHealthy.filter(({ isAccepted }) => !isAccepted)).toEqual([]);
        // A second is the goal; the rest is a margin for a loaded machine.
        expect(lateMs).toBeLessThan(5_000);
        const reader = collector();
        const consumption = await log.consume({ group: newGroup(), onBatch: reader.onBatch });
        const accepted = publishers.attempts.filter(({ isAccepted }) => isAccepted).map(({ id }) => id);
        await eventually(() => {
          const ids = reader.ids();
          return accepted.every((id) => ids.has(id));
        });
        await consumption.close();
      } finally {
        if (name === 'killed') await node.restart();
        else node.resume();
        await log.close();
      }
    },
    slow,
  );

  test(
    'the log stays ready while one broker is silent',
    async () => {
      const topic = newTopicName();
      const log = await open(topic, 3);
      const pings = startPings(log);
      try {
        await log.ping();
        kafka.nodes[lostId - 1]!.pause();
        await eventually(async () => (await leaders(topic)).isElected, { timeoutMs: 60_000 });
        await pings.stop();
        expect(pings.answers).toEqual(pings.answers.map(() => ({ unavailablePartitions: 0 })));
      } finally {
        kafka.nodes[lostId - 1]!.resume();
        await pings.stop();
        await log.close();
      }
    },
    slow,
  );
});
