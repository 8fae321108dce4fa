import { Agent, get, request } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import { expect, test } from '@jest/globals';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { printMeasurements, residentMb } from '@tocsin/shared/testing/figures.ts';
import { createTopic, newAddress, testStack } from '../support/stack.ts';
import { useStack } from '../support/use-stack.ts';

const stack = useStack();
const readerCount = Number(process.env['TOCSIN_BURST_READERS'] ?? 40);
const messages = 2_500;
/** Two busy cores send 10 MB to more than three readers per second. */
const patienceMs = 60_000 + 300 * readerCount;
const concurrency = 400;
const text = 'x'.repeat(4_000);
const eventStart = 'event: message\n';

interface BurstReader {
  isOpen: boolean;
  hasEnded: boolean;
  count: number;
}

/** Counts the messages of one connection, which it does not open again. */
function readOnce(topic: string): BurstReader {
  const reader: BurstReader = { isOpen: false, hasEnded: false, count: 0 };
  const url = `${testStack().urls[0]}/${topic}/sse`;
  const sent = get(url, { headers: { 'X-Forwarded-For': newAddress() }, agent: false }, (response) => {
    reader.isOpen = response.statusCode === 200;
    let rest = '';
    response.setEncoding('latin1').on('data', (chunk: string) => {
      const parts = (rest + chunk).split(eventStart);
      reader.count += parts.length - 1;
      rest = parts.at(-1)!.slice(-eventStart.length);
    });
    response.on('error', () => undefined).on('close', () => (reader.hasEnded = true));
  });
  sent.on('error', () => (reader.hasEnded = true));
  return reader;
}

test(
  'a burst of 10 MB reaches all readers of the topic, none of which is disconnected',
  async () => {
    const { name } = await createTopic(await stack.person());
    const readers = Array.from({ length: readerCount }, () => readOnce(name));
    await eventually(() => readers.every(({ isOpen }) => isOpen), { timeoutMs: patienceMs });
    const { urls, pids, engine } = testStack();
    const beforeMb = residentMb(pids[0]!);
    let peakMb = beforeMb;
    const watch = setInterval(() => (peakMb = Math.max(peakMb, residentMb(pids[0]!))), 100);
    const agent = new Agent({ keepAlive: true, maxSockets: concurrency });
    const publish = () =>
      new Promise<number>((resolve, reject) => {
        const headers = { 'X-Forwarded-For': newAddress() };
        const sent = request(`${urls[0]}/${name}`, { method: 'POST', agent, headers }, (answer) => {
          void textOf(answer).then(() => resolve(answer.statusCode!));
        });
        sent.on('error', reject).end(text);
      });
    const began = performance.now();
    const statuses = await Promise.all(Array.from({ length: messages }, publish));
    expect(statuses.filter((status) => status !== 200)).toEqual([]);
    await eventually(() => expect(readers.filter(({ count }) => count < messages)).toEqual([]), {
      timeoutMs: patienceMs,
    });
    clearInterval(watch);
    agent.destroy();
    printMeasurements('burst', {
      engine,
      readers: readerCount,
      seconds: (performance.now() - began) / 1_000,
      growthMb: peakMb - beforeMb,
    });
    expect(readers.filter(({ count, hasEnded }) => hasEnded || count !== messages)).toEqual([]);
  },
  2 * patienceMs,
);
