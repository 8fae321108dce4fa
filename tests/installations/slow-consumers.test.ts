import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { closers, type Closers } from '@tocsin/shared/platform/lifecycle.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { printMeasurements, residentMb } from '@tocsin/shared/testing/figures.ts';
import { keepPublishing } from '../ledger/keep-publishing.ts';
import { verifyReader } from '../ledger/ledger.ts';
import { readSse } from '../ledger/read-sse.ts';
import { readWebSocket } from '../ledger/read-websocket.ts';
import type { StreamReader } from '../ledger/reader.ts';
import { createTopic, newAddress, testStack } from '../support/stack.ts';
import { established, systemEnds } from '../support/system-ends.ts';
import { useStack } from '../support/use-stack.ts';

const mebibyte = 1024 * 1024;
/** The longest text: 4,000 code points of four bytes. */
const text = { textLength: 4_000, filling: '\u{1F514}' };
const messageBytesMin = 15_900;
const messageBytesMax = 17_000;
/** System buffers differ between connections: this much may follow after one connection was dropped. */
const furtherMessages = Math.ceil((2 * mebibyte) / messageBytesMin);
/** For some hundred publishes of 16 kB; a loaded machine takes more than 45 s. */
const patience = { timeoutMs: 100_000 };
/** Mostly garbage from publishing for more than ten seconds. */
const growthMbMax = 350;

const stack = useStack();
let own: Closers;
beforeEach(() => {
  own = closers();
});
afterEach(() => own.closeAll());

test('drops a consumer that takes nothing for ten seconds, with one mebibyte buffered, without effect on others, and it resumes without gaps or duplicates', async () => {
  const { urls, pids, engine } = testStack();
  const topic = (await createTopic(await stack.person())).name;
  // All on one node, whose memory is measured.
  const open = (read: typeof readSse): StreamReader => {
    const reader = read({ urls: urls.slice(0, 1), topic, headers: { 'X-Forwarded-For': newAddress() } });
    own.add(() => void reader.stop());
    return reader;
  };
  const [slowSse, slowWebSocket, sse, webSocket] = [readSse, readWebSocket, readSse, readWebSocket].map(open) as [
    StreamReader,
    StreamReader,
    StreamReader,
    StreamReader,
  ];
  const readers = [slowSse, slowWebSocket, sse, webSocket];
  const publishing = keepPublishing({
    urls,
    topics: [topic],
    publishers: 8,
    pauseMs: 120,
    headers: () => ({ 'X-Forwarded-For': newAddress() }),
    ...text,
  });
  own.add(() => publishing.cutOff());
  await eventually(() => readers.every(({ count }) => count > 10));

  const beforeMb = residentMb(pids[0]!);
  let peakMb = beforeMb;
  const acked = (atLeast: () => number) =>
    eventually(() => {
      peakMb = Math.max(peakMb, residentMb(pids[0]!));
      return publishing.acked.length >= atLeast();
    }, patience);
  for (const reader of [slowSse, slowWebSocket]) reader.pause();
  await acked(() => (systemEnds(slowSse.socket()!).every(({ state }) => state === established) ? Infinity : 0));
  const target = publishing.acked.length + furtherMessages;
  await acked(() => target);
  await publishing.stop();
  await eventually(() =>
    expect([sse.count, webSocket.count]).toEqual([publishing.acked.length, publishing.acked.length]),
  );
  // A client that does not read does not notice the end either.
  expect([slowSse.ends, slowWebSocket.ends]).toEqual([[], []]);
  const socket = slowWebSocket.socket()!;
  const takenBefore = socket.bytesRead;
  const inSystem = systemEnds(socket).reduce((sum, { bytes }) => sum + bytes, 0);

  for (const reader of [slowSse, slowWebSocket]) reader.resume();
  await eventually(
    () => expect(readers.map(({ count }) => count)).toEqual(readers.map(() => publishing.acked.length)),
    patience,
  );
  const logs = await Promise.all(readers.map((reader) => reader.stop()));
  const bufferedBytes = socket.bytesRead - takenBefore - inSystem;
  printMeasurements('slow consumers', {
    engine,
    messages: publishing.acked.length,
    bufferedBytes,
    inSystem,
    growthMb: peakMb - beforeMb,
    connections: logs.map(({ connections }) => connections),
  });

  const nothing = { lost: 0, repeated: 0, phantom: 0, changed: 0, inverted: 0, outOfPublishersOrder: 0 };
  expect(logs.map((log) => verifyReader(log, publishing.lines, publishing.acked))).toEqual(logs.map(() => nothing));
  expect(readers.map(({ ends }) => ends)).toEqual([['cut off'], [4008], [], []]);
  // Node counts the chunk in progress completely, including the part that the system accepted.
  expect(bufferedBytes).toBeGreaterThan(mebibyte / 2);
  expect(bufferedBytes).toBeLessThan(mebibyte + 2 * messageBytesMax);
  expect(peakMb - beforeMb).toBeLessThan(growthMbMax);
}, 300_000);
