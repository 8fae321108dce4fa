import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { Kafka, logLevel, Partitioners, type KafkaMessage } from 'kafkajs';
import { eventLogContract } from '../../../contracts/event-log/event-log.contract.ts';
import { appendTo, collector, newGroup, testRecord } from '../../../contracts/event-log/event-log.fixtures.ts';
import { eventually } from '../../../testing/eventually.ts';
import { describeWithEngines } from '../../../testing/describe-with-engines.ts';
import { newKafkaPlace, newTopicName, removeTopic, testOptions } from './kafka-event-log.place.ts';
import { kafkaGroupId } from './kafka-group-id.ts';
import { openKafkaEventLog, type KafkaEventLog } from './kafka-event-log.ts';

const slow = 180_000;

describeWithEngines('kafka', ({ kafkaBrokers }) => {
  eventLogContract('kafka', () => newKafkaPlace(kafkaBrokers));
});

describeWithEngines('kafka: the event log on a shared topic', ({ kafkaBrokers }) => {
  /** Simulates another program with access to the brokers. */
  const other = new Kafka({ brokers: kafkaBrokers.split(','), logLevel: logLevel.NOTHING });
  let topic: string;
  let log: KafkaEventLog;

  beforeEach(async () => {
    topic = newTopicName();
    log = await openKafkaEventLog(testOptions(kafkaBrokers, topic));
  });
  afterEach(async () => {
    await log.close();
    await removeTopic(kafkaBrokers, topic);
  }, slow);

  const readRaw = async (count: number): Promise<KafkaMessage[]> => {
    const messages: KafkaMessage[] = [];
    const consumer = other.consumer({ groupId: newGroup(), maxWaitTimeInMs: 100 });
    await consumer.connect();
    await consumer.subscribe({ topic, fromBeginning: true });
    await consumer.run({ eachMessage: ({ message }) => Promise.resolve(void messages.push(message)) });
    await eventually(() => messages.length === count);
    await consumer.disconnect();
    return messages;
  };
  const admin = async <T>(work: (client: ReturnType<typeof other.admin>) => Promise<T>): Promise<T> => {
    const client = other.admin();
    await client.connect();
    try {
      return await work(client);
    } finally {
      await client.disconnect();
    }
  };
  const deleteBefore = (offset: string): Promise<void> =>
    admin(async (client) => {
      await client.fetchTopicOffsets(topic); // kafkajs must load the topic's metadata first
      await client.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset }] });
    });

  test('added partitions are used without a restart, by all nodes', async () => {
    const partitionsCheckMs = 200;
    const open = () => openKafkaEventLog({ ...testOptions(kafkaBrokers, topic), partitionsCheckMs });
    const [node, other] = [await open(), await open()];
    const read = collector();
    const consumption = await node.consume({ group: newGroup(), onBatch: read.onBatch });
    try {
      const before = node.partitions;
      const { message } = testRecord();
      await node.append(before - 1, { ...testRecord(), message }, 'alarms');
      await admin((client) =>
        client.createPartitions({ topicPartitions: [{ topic, count: before + 2 }], validateOnly: false }),
      );
      // This node may not know the partition yet, in which another one created a topic.
      const added = await appendTo(other, 1, before + 1);
      await eventually(() => expect([node.partitions, other.partitions]).toEqual([before + 2, before + 2]));
      await eventually(() => expect(read.ids()).toEqual(new Set([message.id, ...added])));
      expect(await node.end(before + 1)).toBe(1);
      await expect(node.append(before + 2, testRecord(), 'alarms')).rejects.toThrow(RangeError);
    } finally {
      await consumption.close();
      await Promise.all([node.close(), other.close()]);
    }
  });

  test('a record is a CloudEvent with the message object as its value', async () => {
    const record = testRecord({ message: 'Fire 🚒', title: null, tags: ['a', 'b'] });
    const at = record.timestamp + 5_000;
    await log.append(1, record, 'alarms');
    await log.append(
      1,
      {
        type: 'message_edited',
        timestamp: at,
        message: { ...record.message, message: 'Fire!', isEdited: true, editedAt: at },
      },
      'alarms',
    );
    const [published, edited] = await readRaw(2);
    const iso = (time: number) => new Date(time).toISOString();
    expect(published!.key?.toString()).toBe(record.message.topicId);
    expect(texts(published!)).toEqual({
      ce_specversion: '1.0',
      ce_id: record.message.id,
      ce_type: 'tocsin.message.published',
      ce_source: '/topics/alarms',
      ce_time: iso(record.timestamp),
      'content-type': 'application/json',
    });
    expect(JSON.parse(published!.value!.toString())).toMatchObject({
      id: record.message.id,
      topic_id: record.message.topicId,
      topic: 'alarms',
      message: 'Fire 🚒',
      title: null,
      priority: 3,
      tags: ['a', 'b'],
      timestamp: iso(record.timestamp),
      expires_at: iso(record.message.expiresAt),
      markdown: false,
      is_deleted: false,
      is_edited: false,
      deleted_at: null,
      edited_at: null,
    });
    expect(texts(edited!)).toMatchObject({ ce_type: 'tocsin.message.edited', ce_time: iso(at) });
    expect(texts(edited!).ce_id).not.toBe(record.message.id);
    expect(JSON.parse(edited!.value!.toString())).toMatchObject({
      id: record.message.id,
      message: 'Fire!',
      edited_at: iso(at),
    });
  });

  test('skips unreadable records and delivers the others', async () => {
    const producer = other.producer({
      createPartitioner: Partitioners.DefaultPartitioner,
      allowAutoTopicCreation: false,
    });
    await producer.connect();
    const before = await log.append(0, testRecord(), 'alarms');
    const headers = { ce_type: 'tocsin.message.published', ce_time: new Date().toISOString() };
    const whole = {
      id: randomUUID(),
      topic_id: 't',
      message: 'm',
      tags: [],
      title: null,
      priority: 3,
      timestamp: 'never',
      expires_at: 'never',
      markdown: false,
      is_deleted: false,
      is_edited: false,
      deleted_at: null,
      edited_at: null,
    };
    await producer.send({
      topic,
      messages: [
        { value: 'not json', headers },
        { value: null, headers },
        { value: '{}' },
        { value: '{"id":7}', headers },
        { value: JSON.stringify(whole), headers },
        {
          value: JSON.stringify({
            ...whole,
            timestamp: headers.ce_time,
            expires_at: headers.ce_time,
            priority: 'high',
          }),
          headers,
        },
        // Not a Tocsin ID; jobs and streams accept only UUIDs.
        {
          value: JSON.stringify({ ...whole, timestamp: headers.ce_time, expires_at: headers.ce_time, id: 'order 42' }),
          headers,
        },
        { value: '{}', headers: { ...headers, ce_time: 'yesterday' } },
      ].map((message) => ({ ...message, partition: 0 })),
    });
    await producer.disconnect();
    const after = await log.append(0, testRecord(), 'alarms');
    const reader = collector();
    await log.consume({ group: newGroup(), onBatch: reader.onBatch });
    await eventually(() => expect(reader.offsets()).toEqual([before, after]));
    expect(after - before).toBe(9);
  });

  test('starts at the log’s start if asked for an earlier offset', async () => {
    for (let n = 0; n < 10; n += 1) await log.append(0, testRecord(), 'alarms');
    await deleteBefore('6');
    const reader = collector();
    const group = newGroup();
    await log.consume({ group, startAt: () => Promise.resolve(2), onBatch: reader.onBatch });
    await eventually(() => expect(reader.offsets()).toEqual([6, 7, 8, 9]));
    expect(log.unread(group)).toEqual({ haltedPartitions: 0, lost: 4 });
  });

  test('starts at the log’s start if the committed offset was removed', async () => {
    const group = newGroup();
    await appendTo(log, 3, 0);
    const first = collector();
    const consumption = await log.consume({ group, onBatch: first.onBatch });
    await eventually(() => first.offsets().length === 3);
    await consumption.close();
    await appendTo(log, 7, 0);
    await deleteBefore('6');
    const second = collector();
    await log.consume({ group, onBatch: second.onBatch });
    await eventually(() => expect(second.offsets()).toEqual([6, 7, 8, 9]));
    expect(log.unread(group)).toEqual({ haltedPartitions: 0, lost: 3 });
  });

  const isHalted = (of: KafkaEventLog, group: string) =>
    eventually(() => expect(of.unread(group)).toEqual({ haltedPartitions: 1, lost: 0 }));

  test(
    'does not read a partition that ends before the handled records, and reports it',
    async () => {
      await appendTo(log, 2, 0);
      await appendTo(log, 2, 1);
      const reader = collector();
      const group = newGroup();
      const startAt = (partition: number) => Promise.resolve(partition === 0 ? 10 : null);
      await log.consume({ group, startAt, onBatch: reader.onBatch });
      await isHalted(log, group);
      expect(reader.offsets()).toEqual([0, 1]);
      await expect(log.ping()).rejects.toMatchObject({ code: 'unavailable' });
      expect(log.unread(newGroup())).toEqual({ haltedPartitions: 0, lost: 0 });
    },
    slow,
  );

  test(
    'stops reading a partition that is recreated meanwhile instead of starting again at its first record',
    async () => {
      const reader = collector();
      const group = newGroup();
      await log.consume({ group, onBatch: reader.onBatch });
      await appendTo(log, 10, 0);
      await eventually(() => expect(reader.offsets()).toHaveLength(10));
      await removeTopic(kafkaBrokers, topic);
      const recreated = await openKafkaEventLog(testOptions(kafkaBrokers, topic));
      try {
        await appendTo(recreated, 5, 0);
        await isHalted(log, group);
        expect(reader.offsets()).toHaveLength(10);
      } finally {
        await recreated.close();
      }
    },
    slow,
  );

  test('reports records that the log removes while a reader lags behind', async () => {
    const reader = collector();
    const group = newGroup();
    const release = Promise.withResolvers<void>();
    await appendTo(log, 1, 0);
    await log.consume({
      group,
      batchSizeMax: 1,
      onBatch: async (batch) => {
        await release.promise;
        await reader.onBatch(batch);
      },
    });
    for (let n = 0; n < 10; n += 1) await log.append(0, testRecord({ message: 'x'.repeat(600_000) }), 'alarms');
    await deleteBefore('9');
    release.resolve();
    await eventually(() => expect(reader.offsets().at(-1)).toBe(10));
    expect(reader.offsets().length).toBeLessThan(11);
    // The count follows the records.
    await eventually(() => expect(log.unread(group).lost).toBe(11 - reader.offsets().length));
  });

  test('offsets are the broker’s offsets plus the base', async () => {
    const based = await openKafkaEventLog({
      ...testOptions(kafkaBrokers, topic),
      base: (partition) => 1_000 * (partition + 1),
    });
    try {
      const offsets = [
        await based.append(0, testRecord(), 'alarms'),
        await based.append(0, testRecord(), 'alarms'),
        await based.append(2, testRecord(), 'alarms'),
      ];
      expect(offsets).toEqual([1_000, 1_001, 3_000]);
      expect(await based.end(0)).toBe(1_002);
      const reader = collector();
      const nextOffsets: number[] = [];
      await based.consume({
        group: newGroup(),
        startAt: (partition) => Promise.resolve(partition === 0 ? 1_001 : 5),
        onBatch: (batch) => {
          nextOffsets.push(batch.nextOffset);
          return reader.onBatch(batch);
        },
      });
      await eventually(() => expect(reader.offsets().sort()).toEqual([1_001, 3_000]));
      expect(nextOffsets.sort()).toEqual([1_002, 3_001]);
    } finally {
      await based.close();
    }
  });

  test('creates the topic with the broker’s clock and a retention that includes its segments', async () => {
    const { resources } = await admin((client) =>
      client.describeConfigs({ includeSynonyms: false, resources: [{ type: 2, name: topic }] }),
    );
    const configs = new Map(
      resources[0]!.configEntries.map(({ configName, configValue }) => [configName, configValue]),
    );
    expect(configs.get('message.timestamp.type')).toBe('LogAppendTime');
    expect(configs.get('cleanup.policy')).toBe('delete');
    expect(Number(configs.get('retention.ms')) + Number(configs.get('segment.ms'))).toBe(7 * 86_400_000);
  });

  test('keeps the partitions of an existing topic, and two concurrent opens of a missing one succeed', async () => {
    const again = await openKafkaEventLog({ ...testOptions(kafkaBrokers, topic), partitions: 12 });
    expect(again.partitions).toBe(3);
    await again.close();
    const missing = newTopicName();
    const both = await Promise.all([1, 2].map(() => openKafkaEventLog(testOptions(kafkaBrokers, missing))));
    expect(both.map(({ partitions, clusterId }) => ({ partitions, clusterId }))).toEqual(
      [1, 2].map(() => ({ partitions: 3, clusterId: log.clusterId })),
    );
    for (const one of both) await one.close();
    await removeTopic(kafkaBrokers, missing);
  });

  test('groups with one name on two topics are independent', async () => {
    const otherTopic = newTopicName();
    const other = await openKafkaEventLog(testOptions(kafkaBrokers, otherTopic));
    try {
      const group = newGroup();
      const [reader, otherReader] = [collector(), collector()];
      await Promise.all([
        log.consume({ group, onBatch: reader.onBatch }),
        other.consume({ group, onBatch: otherReader.onBatch }),
      ]);
      const [ids, otherIds] = [new Set(await appendTo(log, 30)), new Set(await appendTo(other, 30))];
      await eventually(() => expect([reader.ids(), otherReader.ids()]).toEqual([ids, otherIds]));
    } finally {
      await other.close();
      await removeTopic(kafkaBrokers, otherTopic);
    }
  });

  test('a failing or hanging handler of one partition does not block others', async () => {
    const reader = collector();
    let failures = 0;
    await log.consume({
      group: newGroup(),
      onBatch: (batch) => {
        if (batch.partition === 0)
          return ++failures === 1 ? Promise.reject(new Error('not this one')) : hang(batch.signal);
        return reader.onBatch(batch);
      },
    });
    await appendTo(log, 5_000, 0);
    await eventually(() => failures >= 2);
    const ids = [...(await appendTo(log, 3_000, 1)), ...(await appendTo(log, 100, 2))];
    await eventually(() => expect(reader.ids().size).toBe(ids.length));
  });

  test('a member that keeps a partition in a rebalance continues at its offset', async () => {
    const group = newGroup();
    const first = collector();
    const second = collector();
    await log.consume({ group, onBatch: first.onBatch });
    let isStopped = false;
    const appending = (async () => {
      while (!isStopped) await appendTo(log, 3);
    })();
    await eventually(() => first.seen.length > 0);
    const joined = await log.consume({ group, onBatch: second.onBatch });
    await eventually(() => second.seen.length > 0);
    await joined.close();
    isStopped = true;
    await appending;
    const [last] = await appendTo(log, 1, 2);
    await eventually(() => first.ids().has(last!));
    for (const reader of [first, second]) expect(reader.places().size).toBe(reader.seen.length);
    first.expectOrdered();
  });

  test(
    'a handler slower than the session timeout keeps its partition',
    async () => {
      let runs = 0;
      const finished = Promise.withResolvers<void>();
      const group = newGroup();
      await log.consume({
        group,
        onBatch: async ({ signal }) => {
          runs += 1;
          await waitFor(12_000, signal);
          if (!signal.aborted) finished.resolve();
        },
      });
      await log.append(0, testRecord(), 'alarms');
      await finished.promise;
      expect(runs).toBe(1);
      await eventually(async () => {
        const [offsets] = await admin((client) =>
          client.fetchOffsets({ groupId: kafkaGroupId(topic, group), topics: [topic] }),
        );
        expect(offsets!.partitions.find(({ partition }) => partition === 0)?.offset).toBe('1');
      });
    },
    slow,
  );
});

const texts = ({ headers }: KafkaMessage): Record<string, string> =>
  Object.fromEntries(Object.entries(headers ?? {}).map(([name, value]) => [name, String(value)]));

/** A handler that ends only when the batch is revoked. */
const hang = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve()));

const waitFor = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
