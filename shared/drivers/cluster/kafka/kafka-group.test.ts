import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { Kafka, logLevel, type Admin } from 'kafkajs';
import { closers, type Closers } from '../../../platform/lifecycle.ts';
import { appendTo, collector, newGroup } from '../../../contracts/event-log/event-log.fixtures.ts';
import { describeWithEngines } from '../../../testing/describe-with-engines.ts';
import { eventually } from '../../../testing/eventually.ts';
import { kafkaClient, kafkaClientLog } from './kafka-client.ts';
import { newTopicName, removeTopic, testOptions } from './kafka-event-log.place.ts';
import { openKafkaEventLog, type KafkaEventLog } from './kafka-event-log.ts';
import { kafkaGroupId } from './kafka-group-id.ts';
import { startKafkaProxy } from './kafka-proxy.fixtures.ts';
import { sharedBus, type Connection } from './members/shared-bus.fixtures.ts';
import { newBeatingClientId } from './members/silent-members.ts';

const slow = 120_000;
const patience = { timeoutMs: 60_000 };

describeWithEngines('kafka: the members of a group', ({ kafkaBrokers }) => {
  let own: Closers;
  let topic: string;
  let group: string;
  let admin: Admin;
  let connect: () => Connection;

  beforeEach(async () => {
    own = closers();
    topic = newTopicName();
    group = newGroup();
    own.add(() => removeTopic(kafkaBrokers, topic));
    admin = new Kafka({ brokers: kafkaBrokers.split(','), logLevel: logLevel.NOTHING }).admin();
    await admin.connect();
    own.add(() => admin.disconnect());
    connect = sharedBus().connect;
  });
  afterEach(() => own.closeAll(), slow);

  async function openLog(bus: Connection): Promise<KafkaEventLog> {
    const log = await openKafkaEventLog({ ...testOptions(kafkaBrokers, topic), bus });
    own.add(() => log.close());
    return log;
  }

  /** Joins the group as a program that sends no beats. */
  async function joinWithoutBeats(clientId: string, brokers = kafkaBrokers): Promise<void> {
    const options = { ...testOptions(brokers, topic), clientId };
    const client = kafkaClient(
      { ...options, clientLog: kafkaClientLog(options.log) },
      { requestTimeoutMs: 5_000, retries: 0 },
    );
    const consumer = client.kafka.consumer({
      groupId: kafkaGroupId(topic, group),
      sessionTimeout: 60_000,
      heartbeatInterval: 500,
      maxWaitTimeInMs: 100,
    });
    const joined = new Promise((resolve) => consumer.on(consumer.events.GROUP_JOIN, resolve));
    await consumer.connect();
    await consumer.subscribe({ topic });
    await consumer.run({ eachMessage: () => Promise.resolve() });
    await joined;
    own.add(() => consumer.disconnect());
    own.add(() => Promise.resolve(client.destroy()));
  }

  async function memberIds(clientId: string): Promise<string[]> {
    const { groups } = await admin.describeGroups([kafkaGroupId(topic, group)]);
    return groups[0]!.members.filter((member) => member.clientId === clientId).map(({ memberId }) => memberId);
  }

  test(
    'remove one that died, so that the partitions are read before its session times out',
    async () => {
      const log = await openLog(connect());
      const dead = newBeatingClientId();
      const proxy = await startKafkaProxy(kafkaBrokers.split(',')[0]!);
      own.add(() => proxy.close());
      await joinWithoutBeats(dead, proxy.address);
      await proxy.refuse();
      const reader = collector();
      await log.consume({ group, onBatch: reader.onBatch });
      await eventually(() => log.removedMembers(group) === 1); // instead of the session timeout
      await appendTo(log, 30);
      await eventually(() => reader.offsets().length === 30, patience);
      expect(await memberIds(dead)).toEqual([]);
    },
    slow,
  );

  test(
    'remove one that runs without a bus; it rejoins, and all records are read',
    async () => {
      const [log, bus] = [await openLog(connect()), connect()];
      const silent = await openLog(bus);
      const readers = [collector(), collector()];
      await log.consume({ group, onBatch: readers[0]!.onBatch });
      await silent.consume({ group, onBatch: readers[1]!.onBatch });
      bus.isConnected = false;
      const ids: string[] = [];
      await eventually(async () => {
        ids.push(...(await appendTo(log, 10)));
        return log.removedMembers(group) > 0;
      }, patience);
      await eventually(async () => {
        const { groups } = await admin.describeGroups([kafkaGroupId(topic, group)]);
        return groups[0]!.state === 'Stable' && groups[0]!.members.length === 2;
      }, patience);
      ids.push(...(await appendTo(log, 30)));
      const read = () => new Set(readers.flatMap((reader) => [...reader.ids()]));
      await eventually(() => expect(ids.filter((id) => !read().has(id))).toEqual([]), patience);
      expect(silent.removedMembers(group)).toBe(0);
    },
    slow,
  );

  // The leak guard fails this file if kafkajs continues to connect.
  test.each([0, 1, 2, 5, 10, 20, 40])('end when their log closes %d ms after they started', async (afterMs) => {
    const log = await openLog(connect());
    const consuming = log.consume({ group, onBatch: collector().onBatch });
    await sleep(afterMs);
    await log.close();
    await consuming;
  });

  test(
    'keep one of an earlier version, which sends no beats',
    async () => {
      const log = await openLog(connect());
      await joinWithoutBeats('tocsin');
      const promising = newBeatingClientId();
      await joinWithoutBeats(promising);
      const before = await memberIds('tocsin');
      await log.consume({ group, onBatch: collector().onBatch });
      await eventually(() => log.removedMembers(group) > 0, patience);
      expect(before).toHaveLength(1);
      expect(await memberIds('tocsin')).toEqual(before);
    },
    slow,
  );
});
