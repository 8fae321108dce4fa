import { expect, test } from '@jest/globals';
import type { Engine } from '../ports/engine.ts';
import { checkReadiness } from './health.ts';

const answers = { ping: () => Promise.resolve() };
const logAnswers = (unavailablePartitions: number) => ({ ping: () => Promise.resolve({ unavailablePartitions }) });
const fails = { ping: () => Promise.reject(new Error('away')) };
const hangs = { ping: () => new Promise<void>(() => {}) };
const staying = new AbortController().signal;
const engine = (parts: object): Engine =>
  ({
    eventLog: logAnswers(0),
    messages: answers,
    documents: answers,
    jobQueue: answers,
    bus: answers,
    ...parts,
  }) as unknown as Engine;

test('reports ready if all components respond', async () => {
  expect(await checkReadiness(engine({}), staying)).toEqual({
    status: 'ok',
    parts: { log: 'ok', database: 'ok', queue: 'ok', bus: 'ok' },
  });
});

test('names the failed component and reports down', async () => {
  expect(await checkReadiness(engine({ messages: fails }), staying)).toEqual({
    status: 'down',
    parts: { log: 'ok', database: 'down', queue: 'ok', bus: 'ok' },
  });
  expect(await checkReadiness(engine({ eventLog: fails, bus: fails }), staying)).toMatchObject({
    status: 'down',
    parts: { log: 'down', database: 'ok', bus: 'down' },
  });
});

test('stays ready while some partitions are unavailable, and reports how many', async () => {
  expect(await checkReadiness(engine({ eventLog: logAnswers(2) }), staying)).toEqual({
    status: 'ok',
    parts: { log: 'ok', database: 'ok', queue: 'ok', bus: 'ok' },
    unavailable_partitions: 2,
  });
});

test('reports a component that does not respond as down', async () => {
  expect(await checkReadiness(engine({ jobQueue: hangs }), staying)).toMatchObject({
    status: 'down',
    parts: { queue: 'down' },
  });
});

test('reports not ready while the process shuts down', async () => {
  expect(await checkReadiness(engine({}), AbortSignal.abort())).toEqual({
    status: 'down',
    parts: { log: 'ok', database: 'ok', queue: 'ok', bus: 'ok' },
  });
});
