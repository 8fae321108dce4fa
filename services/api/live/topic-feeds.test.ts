import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { beatsChannel, type Beat } from '@tocsin/shared/domain/messages/fanout-beats.ts';
import { History } from '@tocsin/shared/operations/messages/history.ts';
import { openLogger } from '@tocsin/shared/platform/logger.ts';
import type { Messages } from '@tocsin/shared/ports/messages/messages.ts';
import { newId, newTopic } from '@tocsin/shared/testing/builders.ts';
import { TopicFeeds } from './topic-feeds.ts';

const partitions = 12;
const feedsOpen = 10_000;

/** A bus whose connection and beats the test controls. */
function testBus() {
  const listeners = new Set<(connected: boolean) => void>();
  let hear: (payload: string) => void = () => undefined;
  return {
    isConnected: true,
    subscribe(channel: string, listener: (payload: string) => void) {
      if (channel === beatsChannel) hear = listener;
      return Promise.resolve({ close: () => Promise.resolve() });
    },
    onConnected(listener: (connected: boolean) => void) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    beat(offset: number) {
      const beats = Array.from({ length: partitions }, (_, partition): Beat => {
        return { partition, offset, assignment: 'a', missed: -1 };
      });
      if (this.isConnected) hear(JSON.stringify(beats));
    },
    setConnected(isConnected: boolean) {
      this.isConnected = isConnected;
      for (const listener of listeners) listener(isConnected);
    },
  };
}

test('a short loss of the bus costs few reads, none of them for topics without new records', async () => {
  const counts = { watermark: 0, lastOffsets: 0, records: 0 };
  const stored = { watermark: 5, lastOffset: 0 };
  const messages = {
    watermark: () => {
      counts.watermark += 1;
      return Promise.resolve(stored.watermark);
    },
    lastOffsets: (ids: readonly string[]) => {
      counts.lastOffsets += 1;
      return Promise.resolve(new Map(ids.map((id) => [id, id === moved ? stored.lastOffset : 0])));
    },
    records: () => {
      counts.records += 1;
      return Promise.resolve([]);
    },
  } as unknown as Messages;
  const bus = testBus();
  const feeds = new TopicFeeds({
    bus,
    directory: { peekTopic: () => undefined, topic: () => Promise.resolve(null) },
    history: new History(messages, Date.now),
    clock: Date.now,
    log: openLogger('test', 'silent'),
  });
  const beating = setInterval(() => bus.beat(stored.watermark), 500);
  const topics = Array.from({ length: feedsOpen }, (_, index) => newTopic(newId(), { partition: index % partitions }));
  const moved = topics[0]!.id;
  try {
    await Promise.all(topics.map((topic) => feeds.use({ ...topic, version: 1 })));
    await pause(2_000); // the checks until the first beat
    Object.assign(counts, { watermark: 0, lastOffsets: 0, records: 0 });
    bus.setConnected(false);
    await pause(200); // the outage
    bus.setConnected(true);
    await pause(3_000); // the time in which the reads happen
    expect(counts.records).toBe(0);
    // A check per partition and round; rounds end with the next beat, at most 0.5 s after the reconnect.
    expect(counts.watermark).toBeLessThanOrEqual(3 * partitions);
    expect(counts.lastOffsets).toBeLessThanOrEqual(2 * Math.ceil(feedsOpen / 1_000) + partitions);
    expect(feeds.silentPartitions).toBe(0);

    // A silent fan-out costs a read per partition and round, and one read for the topic with new records.
    clearInterval(beating);
    Object.assign(stored, { watermark: 9, lastOffset: 9 });
    await pause(2_500); // silence is noticed after 1.5 s
    expect(feeds.silentPartitions).toBe(partitions);
    Object.assign(counts, { watermark: 0, lastOffsets: 0 });
    expect(counts.records).toBe(1);
    await pause(2_000); // four rounds
    expect(counts.watermark / 2).toBeLessThanOrEqual(100);
    expect([counts.lastOffsets, counts.records]).toEqual([0, 1]);
  } finally {
    clearInterval(beating);
    await feeds.close();
  }
}, 30_000);
