import { expect, test } from '@jest/globals';
import { unavailable } from '@tocsin/shared/domain/errors.ts';
import type { LogRecord, PlacedRecord } from '@tocsin/shared/domain/messages/log-record.ts';
import { topicChannel } from '@tocsin/shared/domain/messages/channels.ts';
import { storedReportsChannel } from '@tocsin/shared/domain/messages/stored-reports.ts';
import { openLogger } from '@tocsin/shared/platform/logger.ts';
import { newId, newMessage } from '@tocsin/shared/testing/builders.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { fanOutBatch, type FanOutDeps } from './fan-out-batch.ts';
import { PartitionBeats } from './partition-beats.ts';

/** Dependencies whose messages, bus and beats each test gives. */
const depsWith = (given: Pick<FanOutDeps, 'messages' | 'bus' | 'beats'>): FanOutDeps => ({
  log: openLogger('test', 'silent'),
  clock: Date.now,
  metrics: { delay: { observe: () => undefined } },
  activity: { published: () => undefined },
  ...given,
});

const publishOf = (topicId: string): LogRecord => {
  const message = newMessage(topicId);
  return { type: 'message', timestamp: message.timestamp, message };
};

test('a hanging bus delays only the batch that was sent to it', async () => {
  const topicId = newId();
  const watermarks: number[] = [];
  const sent: string[] = [];
  const answers: PromiseWithResolvers<void>[] = [];
  const beats = new PartitionBeats();
  beats.assigned(0, 0, new AbortController().signal);
  const deps = depsWith({
    messages: {
      reconcile: (_, records) => Promise.resolve(records.map((one) => ({ ...one, previousOffset: one.offset - 1 }))),
      moveWatermark: (_, offset) => Promise.resolve(void watermarks.push(offset)),
    },
    bus: {
      isConnected: true,
      isHeard: () => true,
      publish: (_, payloads) => {
        sent.push(...payloads.map((payload) => String((JSON.parse(payload) as { offset: number }).offset)));
        answers.push(Promise.withResolvers<void>());
        return answers.at(-1)!.promise;
      },
    },
    beats,
  });
  const batch = (offset: number) => {
    const records: PlacedRecord[] = [{ partition: 0, offset, record: publishOf(topicId) }];
    return { partition: 0, records, nextOffset: offset + 1, signal: new AbortController().signal };
  };
  for (const offset of [0, 1, 2]) await fanOutBatch(deps, batch(offset));
  expect(watermarks).toEqual([0, 1, 2]);
  expect(sent).toEqual(['0', '1', '2']);
  expect(beats.all).toMatchObject([{ partition: 0, offset: 2, missed: -1 }]);
  answers[1]!.reject(unavailable('Bus'));
  for (const { resolve } of answers) resolve();
  // Nodes read what possibly was not published.
  await eventually(() => expect(beats.all).toMatchObject([{ offset: 2, missed: 1 }]));
  await fanOutBatch({ ...deps, bus: { ...deps.bus, isConnected: false } }, batch(3));
  expect(beats.all).toMatchObject([{ offset: 3, missed: 3 }]);
});

test('reports to the waiting nodes as soon as the batch is stored, before the watermark moves', async () => {
  const [first, second] = [newId(), newId()];
  const [stored, moved] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const reports: [string, string][] = [];
  const records = [first, second, first, undefined].map((waitingNode, offset): PlacedRecord => {
    const record = publishOf('a topic');
    return { partition: 2, offset, record: waitingNode === undefined ? record : { ...record, waitingNode } };
  });
  const done = fanOutBatch(
    depsWith({
      messages: { reconcile: () => stored.promise.then(() => []), moveWatermark: () => moved.promise },
      bus: {
        isConnected: true,
        isHeard: () => true,
        publish: (channel, payloads) => {
          for (const payload of payloads) reports.push([channel, payload]);
          return Promise.resolve();
        },
      },
      beats: new PartitionBeats(),
    }),
    { partition: 2, records, nextOffset: 4, signal: new AbortController().signal },
  );
  await Promise.resolve();
  expect(reports).toEqual([]);
  stored.resolve();
  const report = JSON.stringify({ partition: 2, upTo: 3 });
  await eventually(() =>
    expect(reports).toEqual([
      [storedReportsChannel(first), report],
      [storedReportsChannel(second), report],
    ]),
  );
  moved.resolve();
  await done;
});

test('publishes only to the channels that are heard', async () => {
  const [heard, unheard] = [newId(), newId()];
  const published: string[] = [];
  const records = [unheard, heard].map((topicId, offset): PlacedRecord => ({
    partition: 0,
    offset,
    record: publishOf(topicId),
  }));
  const beats = new PartitionBeats();
  beats.assigned(0, 0, new AbortController().signal);
  await fanOutBatch(
    depsWith({
      messages: {
        reconcile: () => Promise.resolve(records.map((one) => ({ ...one, previousOffset: null }))),
        moveWatermark: () => Promise.resolve(),
      },
      bus: {
        isConnected: true,
        isHeard: (channel) => channel === topicChannel(heard),
        publish: (channel) => Promise.resolve(void published.push(channel)),
      },
      beats,
    }),
    { partition: 0, records, nextOffset: 2, signal: new AbortController().signal },
  );
  expect(published).toEqual([topicChannel(heard)]);
  expect(beats.all).toMatchObject([{ offset: 1, missed: -1 }]);
});

test('beats stop with the partition, and name each assignment', () => {
  const beats = new PartitionBeats();
  const [first, second] = [new AbortController(), new AbortController()];
  beats.assigned(3, 10, first.signal);
  const before = beats.all;
  expect(before).toMatchObject([{ partition: 3, offset: 9, missed: 9 }]);
  beats.assigned(3, 12, second.signal);
  first.abort();
  expect(beats.all).toMatchObject([{ partition: 3, offset: 11, missed: 11 }]);
  expect(beats.all[0]!.assignment).not.toBe(before[0]!.assignment);
  second.abort();
  beats.delivered(3, 20);
  expect(beats.all).toEqual([]);
});
