import { expect, test } from '@jest/globals';
import type { LogRecord, PlacedRecord } from '@tocsin/shared/domain/messages/log-record.ts';
import { openLogger } from '@tocsin/shared/platform/logger.ts';
import { newId, newMessage } from '@tocsin/shared/testing/builders.ts';
import { fanOutBatch, type FanOutDeps } from './fan-out-batch.ts';

const log = openLogger('test', 'silent');

test('a hanging bus delays only the batch that was sent to it', async () => {
  const topicId = newId();
  const watermarks: number[] = [];
  const sent: string[] = [];
  const answers: (() => void)[] = [];
  const deps: FanOutDeps = {
    log,
    clock: Date.now,
    metrics: { delay: { observe: () => undefined } },
    messages: {
      reconcile: (_, records) => Promise.resolve(records.map((one) => ({ ...one, previousOffset: one.offset - 1 }))),
      moveWatermark: (_, offset) => Promise.resolve(void watermarks.push(offset)),
    },
    bus: {
      isConnected: true,
      publish: (_, payloads) => {
        sent.push(...payloads.map((payload) => String((JSON.parse(payload) as { offset: number }).offset)));
        return new Promise<void>((resolve) => answers.push(resolve));
      },
    },
    activity: { published: () => undefined },
  };
  const batch = (offset: number) => {
    const message = newMessage(topicId);
    const record: LogRecord = { type: 'message', timestamp: message.timestamp, message };
    const records: PlacedRecord[] = [{ partition: 0, offset, record }];
    return { partition: 0, records, nextOffset: offset + 1, signal: new AbortController().signal };
  };
  for (const offset of [0, 1, 2]) await fanOutBatch(deps, batch(offset));
  expect(watermarks).toEqual([0, 1, 2]);
  expect(sent).toEqual(['0', '1', '2']);
  for (const answer of answers) answer();
});
