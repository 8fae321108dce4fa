import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { closers, type Closers } from '@tocsin/shared/platform/lifecycle.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { printMeasurements } from '@tocsin/shared/testing/figures.ts';
import { keepPublishing, type Publishing } from '../ledger/keep-publishing.ts';
import { nilId, type StreamReader } from '../ledger/reader.ts';
import { readSse } from '../ledger/read-sse.ts';
import { readWebSocket } from '../ledger/read-websocket.ts';
import { createTopic, newAddress, testStack } from '../support/stack.ts';
import { useStack } from '../support/use-stack.ts';

const resumes = Number(process.env['TOCSIN_RESUMES'] ?? 120);
const atOnce = 12;
const publishers = 16;
/** Old offsets have records to read before they reach live records. */
const historyMin = 600;
/** How many records a client reads beyond its connection. */
const furtherMessages = 10;

const stack = useStack();
let own: Closers;
beforeEach(() => {
  own = closers();
});
afterEach(() => own.closeAll());

interface Resumed {
  readonly sinceId: string;
  readonly ids: readonly string[];
}

test(`${resumes} clients resume without gaps or duplicates while ${publishers} publishers publish continuously`, async () => {
  const { urls, engine } = testStack();
  const topic = (await createTopic(await stack.person())).name;
  const publishing = keepPublishing({
    urls,
    topics: [topic],
    publishers,
    pauseMs: 0,
    headers: () => ({ 'X-Forwarded-For': newAddress() }),
  });
  own.add(() => publishing.cutOff());
  await eventually(() => publishing.acked.length >= historyMin, { timeoutMs: 60_000 });
  const startedAt = performance.now();
  const ackedBefore = publishing.acked.length;
  const resumed: Resumed[] = [];
  await Promise.all(
    Array.from({ length: atOnce }, async (_, lane) => {
      for (let n = lane; n < resumes; n += atOnce) resumed.push(await resume(publishing, { urls, topic, n }));
    }),
  );
  const perSecond = (publishing.acked.length - ackedBefore) / ((performance.now() - startedAt) / 1_000);
  await publishing.stop();

  const order = idsInOrder(publishing);
  const wrong = resumed.filter(({ sinceId, ids }) => {
    const first = sinceId === nilId ? 0 : order.indexOf(sinceId) + 1;
    return ids.join() !== order.slice(first, first + ids.length).join();
  });
  printMeasurements('resume race', {
    engine,
    resumes: resumed.length,
    publishesPerSecond: perSecond,
    messagesRead: resumed.reduce((sum, { ids }) => sum + ids.length, 0),
    wrong: wrong.length,
  });
  expect(wrong).toEqual([]);
  expect(resumed).toHaveLength(resumes);
});

/** Reads from an offset until well beyond its connection. Half of the offsets were acknowledged just before. */
async function resume(
  publishing: Publishing,
  { urls, topic, n }: { urls: readonly string[]; topic: string; n: number },
): Promise<Resumed> {
  const acked = publishing.acked.length;
  const back = n % 2 === 0 ? 1 : 1 + Math.floor(Math.random() * (acked + 1));
  const sinceId = publishing.acked.at(-back)?.id ?? nilId;
  const read = n % 4 < 2 ? readSse : readWebSocket;
  const ids: string[] = [];
  const reader: StreamReader = read({
    urls,
    topic,
    sinceId,
    first: Math.floor(n / 4),
    headers: { 'X-Forwarded-For': newAddress() },
    onMessage: ({ id }) => ids.push(id),
  });
  own.add(() => void reader.stop());
  await eventually(() => ids.length > 0);
  const enough = publishing.acked.length - acked + Math.min(back, acked) + furtherMessages;
  await eventually(() => ids.length >= enough, { intervalMs: 5 });
  await reader.stop();
  expect(reader.ends).toEqual([]);
  return { sinceId, ids: [...ids] };
}

/** Every publish was acknowledged, so this is the complete topic. */
function idsInOrder({ acked, lines }: Publishing): string[] {
  expect(acked).toHaveLength(lines.length);
  return [...acked].sort((a, b) => a.offset - b.offset).map(({ id }) => id);
}
