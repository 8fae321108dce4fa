import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { topicChannel } from '@tocsin/shared/domain/messages/channels.ts';
import { History } from '@tocsin/shared/operations/messages/history.ts';
import { openLogger } from '@tocsin/shared/platform/logger.ts';
import { scanMatches } from '@tocsin/shared/operations/messages/scan-matches.ts';
import type { TopicRecord } from '@tocsin/shared/ports/messages/message-reads.ts';
import type { Messages } from '@tocsin/shared/ports/messages/messages.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { newId, newMessage, newTopic } from '@tocsin/shared/testing/builders.ts';
import { streamLog, type LogStreamDeps } from './stream-log.ts';
import { newTopicFeeds, TestBus, type FeedReads } from './topic-feeds.fixtures.ts';
import type { TopicFeeds } from './topic-feeds.ts';

/** A client that takes everything. */
class TakingResponse extends EventEmitter {
  lines = '';
  readonly socket = null;
  destroyed = false;
  writableEnded = false;

  writeHead(): void {}
  flushHeaders(): void {}
  write(text: string): boolean {
    this.lines += text;
    return true;
  }
  end(): void {
    this.writableEnded = true;
  }
  destroy(): void {
    this.destroyed = true;
    this.emit('close');
  }
}

const topic = { ...newTopic(newId(), { partition: 0 }), version: 1 };
const channel = topicChannel(topic.id);

let stored: TopicRecord[];
let reads: number;
/** Reads below this offset have a gap. */
let gapUpTo: number;
let bus: TestBus;
let feeds: TopicFeeds;
let deps: LogStreamDeps;
let responses: TakingResponse[];
beforeEach(() => {
  stored = [];
  reads = 0;
  gapUpTo = 0;
  responses = [];
  bus = new TestBus();
  const messages: FeedReads = {
    watermark: () => Promise.resolve(stored.length - 1),
    lastOffsets: (ids) => Promise.resolve(new Map(ids.map((id) => [id, stored.length - 1]))),
    records: (_, { from, limit }) => {
      reads += 1;
      return Promise.resolve(stored.slice(from, from + limit));
    },
  };
  feeds = newTopicFeeds({ bus, messages });
  deps = {
    config: { RATE_LIMITS: false },
    feeds,
    history: new History(messages as Messages, Date.now),
    log: openLogger('test', 'silent'),
    streams: { reserve: () => Promise.resolve({ release: () => undefined }), add: () => undefined },
  } as unknown as LogStreamDeps;
});
afterEach(async () => {
  for (const response of responses) response.destroy();
  await feeds.close();
});

/** Follows the log from the offset. */
async function follow(from: number): Promise<TakingResponse> {
  const response = new TakingResponse();
  responses.push(response);
  void streamLog(deps, {
    caller: { kind: 'anonymous', address: '192.0.2.1' },
    credential: null,
    topic,
    from,
    limit: Infinity,
    isFollowing: true,
    matches: null,
    position: (next) => `up to ${next} `,
    first: () =>
      scanMatches(async (start, limit) => stored.slice(start, start + limit), { from, limit: 100, matches: null }),
    gap: async (start) => (start < gapUpTo ? { line: `gap ${start}-${gapUpTo} `, next: gapUpTo } : null),
    line: ({ offset }) => `${offset} `,
    authorize: () => Promise.resolve(null),
    response: response as unknown as ServerResponse,
  });
  await eventually(() => response.listenerCount('close') > 0);
  return response;
}

/** Stores the next record and publishes it like the fan-out. */
function publish(): void {
  const message = newMessage(topic.id);
  const offset = stored.length;
  stored.push({ offset, type: 'message', timestamp: message.timestamp, message: { ...message, offset } });
  const record = { type: 'message', timestamp: message.timestamp, message };
  bus.send(channel, JSON.stringify({ offset, previousOffset: offset - 1, record }));
}

test('50 followers of a topic share the reads of the store', async () => {
  for (let n = 0; n < 50; n += 1) await follow(0);
  reads = 0;
  for (let offset = 0; offset < 20; offset += 1) {
    publish();
    await eventually(() => expect(responses.every(({ lines }) => lines.endsWith(`${offset} `))).toBe(true));
  }
  expect(reads).toBeLessThanOrEqual(2 * 20);
  const expected = Array.from({ length: 20 }, (_, offset) => `${offset} `).join('');
  expect(new Set(responses.map(({ lines }) => lines))).toEqual(new Set([expected]));
});

test('followers at different offsets get every record once, in order', async () => {
  for (let offset = 0; offset < 250; offset += 1) publish();
  const starts = [0, 1, 120, 250];
  const following = await Promise.all(starts.map((from) => follow(from)));
  for (let offset = 250; offset < 260; offset += 1) publish();
  await eventually(() => expect(following.every(({ lines }) => lines.endsWith('259 '))).toBe(true));
  for (const [index, { lines }] of following.entries()) {
    const offsets = Array.from({ length: 260 - starts[index]! }, (_, n) => `${starts[index]! + n} `);
    expect(lines).toBe(offsets.join(''));
  }
});

test('a follower gets the line of a gap before the next record, once', async () => {
  gapUpTo = 3;
  for (let offset = 0; offset < 3; offset += 1) publish();
  const gone = stored;
  stored = [];
  const reader = await follow(0);
  stored = gone;
  publish();
  await eventually(() => expect(reader.lines).toBe('gap 0-3 3 '));
});
