import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { beatsChannel, type Beat } from '@tocsin/shared/domain/messages/fanout-beats.ts';
import type { TopicRecord } from '@tocsin/shared/ports/messages/message-reads.ts';
import { newId, newMessage, newTopic } from '@tocsin/shared/testing/builders.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { newTopicFeeds, TestBus, type FeedReads } from './topic-feeds.fixtures.ts';

const partitions = 12;
const feedsOpen = 10_000;

function sendBeats(bus: TestBus, offset: number): void {
  const beats = Array.from({ length: partitions }, (_, partition): Beat => {
    return { partition, offset, assignment: 'a', missed: -1 };
  });
  bus.send(beatsChannel, JSON.stringify(beats));
}

test('a short loss of the bus costs few reads, none of them for topics without new records', async () => {
  const counts = { watermark: 0, lastOffsets: 0, records: 0 };
  const stored = { watermark: 5, lastOffset: 0 };
  const messages: FeedReads = {
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
  };
  const bus = new TestBus();
  const feeds = newTopicFeeds({ bus, messages });
  const beating = setInterval(() => sendBeats(bus, stored.watermark), 500);
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
});

test('backfills a record lost while the bus was disconnected, although the fan-out sends beats before the next check', async () => {
  const topic = newTopic(newId(), { partition: 0 });
  const message = newMessage(topic.id);
  const stored: TopicRecord[] = [];
  let checks = 0;
  const bus = new TestBus();
  const feeds = newTopicFeeds({
    bus,
    messages: {
      watermark: () => {
        checks += 1;
        return Promise.resolve(stored.length - 1);
      },
      lastOffsets: (ids) => Promise.resolve(new Map(ids.map((id) => [id, stored.length - 1]))),
      records: (_, { from }) => Promise.resolve(stored.slice(from)),
    },
  });
  let beating: NodeJS.Timeout | undefined;
  try {
    const { feed } = await feeds.use({ ...topic, version: 1 });
    const seen: number[] = [];
    feed.listen(({ offset }) => seen.push(offset));
    checks = 0;
    sendBeats(bus, -1);
    await eventually(() => checks > 0); // because of the first beat
    bus.setConnected(false);
    stored.push({ offset: 0, type: 'message', timestamp: message.timestamp, message: { ...message, offset: 0 } });
    bus.setConnected(true);
    sendBeats(bus, 0);
    beating = setInterval(() => sendBeats(bus, 0), 500);
    await eventually(() => expect(seen).toEqual([0]));
  } finally {
    clearInterval(beating);
    await feeds.close();
  }
});
