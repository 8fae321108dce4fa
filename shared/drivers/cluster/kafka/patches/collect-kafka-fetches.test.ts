import { describe, expect, test } from '@jest/globals';
import { collector, newGroup, testRecord } from '../../../../contracts/event-log/event-log.fixtures.ts';
import { describeWithEngines } from '../../../../testing/describe-with-engines.ts';
import { eventually } from '../../../../testing/eventually.ts';
import { openKafkaEventLog } from '../kafka-event-log.ts';
import { newTopicName, removeTopic, testOptions } from '../kafka-event-log.place.ts';
import { ArrivalPeak, collectFetches, fetchCollected, type FetchedRecord } from './collect-kafka-fetches.ts';

const times = { baseMs: 2, perRecordMs: 1, maxMs: 10 };
/** A record of 100 bytes. */
const record: FetchedRecord = { key: Buffer.alloc(10), value: Buffer.alloc(70), headers: { node: Buffer.alloc(6) } };
const records = (count: number) => Array<FetchedRecord>(count).fill(record);

describe('the peak of arrivals', () => {
  const waitsAfter = (...counts: number[]) => {
    const peak = new ArrivalPeak(times);
    return counts.map((count) => {
      peak.arrived(records(count));
      return peak.wait;
    });
  };

  test('makes a fetch wait for as many bytes as the one before, for the collecting time', () => {
    expect(waitsAfter(4, 16)).toEqual([
      { minBytes: 400, maxWaitTime: 6 },
      { minBytes: 1_600, maxWaitTime: 10 },
    ]);
  });

  test('falls by a tenth with each smaller fetch', () => {
    expect(waitsAfter(10, 3, 3)).toEqual([
      { minBytes: 1_000, maxWaitTime: 10 },
      { minBytes: 900, maxWaitTime: 5 },
      { minBytes: 810, maxWaitTime: 5 },
    ]);
  });

  test('is forgotten after a fetch without records', () => {
    expect(waitsAfter(10, 0, 2)).toEqual([
      { minBytes: 1_000, maxWaitTime: 10 },
      undefined,
      { minBytes: 200, maxWaitTime: 4 },
    ]);
  });

  test('delays nothing after single records', () => {
    expect(waitsAfter(1, 1)).toEqual([undefined, undefined]);
  });
});

describe('a collected fetch', () => {
  class Group {
    cluster = {};
    minBytes = 1;
    maxWaitTime = 250;
    memberId = 'former';
    seen: [nodeId: string, minBytes: number, maxWaitTime: number][] = [];

    async fetch(nodeId: string): Promise<{ messages: FetchedRecord[] }[]> {
      this.seen.push([nodeId, this.minBytes, this.maxWaitTime]);
      return [{ messages: records(2) }, { messages: records(2) }];
    }

    recoverFromFetch(_error: Error): Promise<void> {
      this.memberId = 'new';
      return Promise.resolve();
    }
  }

  test('waits for the peak of its own broker, and leaves the fields of the group alone', async () => {
    const group = new Group();
    collectFetches(group.cluster, times);
    for (const nodeId of ['1', '1', '2']) await fetchCollected(group.fetch, group, nodeId);
    expect(group.seen).toEqual([
      ['1', 1, 250],
      ['1', 400, 6],
      ['2', 1, 250],
    ]);
    expect([group.minBytes, group.maxWaitTime]).toEqual([1, 250]);
  });

  test('recovers in the group itself', async () => {
    const group = new Group();
    collectFetches(group.cluster, times);
    await fetchCollected(group.fetch, group, '1');
    group.fetch = async function (this: Group) {
      await this.recoverFromFetch(new Error('a stale leader'));
      return [];
    };
    await fetchCollected(group.fetch, group, '1');
    expect(group.memberId).toBe('new');
  });

  test('is a plain fetch for other consumers', async () => {
    const group = new Group();
    await fetchCollected(group.fetch, group, '1');
    await fetchCollected(group.fetch, group, '1');
    expect(group.seen).toEqual(Array(2).fill(['1', 1, 250]));
  });
});

describeWithEngines('kafka: collected fetches', ({ kafkaBrokers }) => {
  test('end when all publishers that wait have published, and after the collecting time if fewer do', async () => {
    const topic = newTopicName();
    const log = await openKafkaEventLog(testOptions(kafkaBrokers, topic));
    try {
      const reader = collector();
      const maxMs = 2_000;
      const collect = { baseMs: maxMs, perRecordMs: 0, maxMs, endsAtPeak: true };
      await log.consume({ group: newGroup(), collect, onBatch: reader.onBatch });
      const publish = async (count: number) => {
        const sofar = reader.seen.length;
        await Promise.all(Array.from({ length: count }, () => log.append(0, testRecord(), 'alarms')));
        await eventually(() => expect(reader.seen.length).toBe(sofar + count));
      };
      await publish(5);
      const startedAt = performance.now();
      for (let round = 0; round < 10; round++) await publish(5);
      expect(performance.now() - startedAt).toBeLessThan((10 * maxMs) / 2);
      await publish(1);
    } finally {
      await log.close();
      await removeTopic(kafkaBrokers, topic);
    }
  });
});
