import { expect, test } from '@jest/globals';
import type { Engine } from '../ports/engine.ts';
import { readinessCheck, readinessGraceMs } from './health.ts';

const answers = { ping: () => Promise.resolve() };
const logAnswers = (unavailablePartitions: number) => ({ ping: () => Promise.resolve({ unavailablePartitions }) });
const fails = { ping: () => Promise.reject(new Error('away')) };
const hangs = { ping: () => new Promise<void>(() => {}) };
const staying = new AbortController().signal;
const checkReadiness = (given: Engine, leaving = staying) => readinessCheck({ engine: given, leaving })();
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
  expect(await checkReadiness(engine({}))).toEqual({
    status: 'ok',
    parts: { log: 'ok', database: 'ok', queue: 'ok', bus: 'ok' },
  });
});

test('names the failed component and reports down', async () => {
  expect(await checkReadiness(engine({ messages: fails }))).toEqual({
    status: 'down',
    parts: { log: 'ok', database: 'down', queue: 'ok', bus: 'ok' },
  });
  expect(await checkReadiness(engine({ eventLog: fails, bus: fails }))).toMatchObject({
    status: 'down',
    parts: { log: 'down', database: 'ok', bus: 'down' },
  });
});

test('stays ready while some partitions are unavailable, and reports how many', async () => {
  expect(await checkReadiness(engine({ eventLog: logAnswers(2) }))).toEqual({
    status: 'ok',
    parts: { log: 'ok', database: 'ok', queue: 'ok', bus: 'ok' },
    unavailable_partitions: 2,
  });
});

test('reports a component that does not respond as down', async () => {
  expect(await checkReadiness(engine({ jobQueue: hangs }))).toMatchObject({
    status: 'down',
    parts: { queue: 'down' },
  });
});

test('stays ready for the grace after a component fails, names it, and has a new grace after it was up', async () => {
  let [now, documents]: [number, object] = [0, answers];
  const check = readinessCheck({
    engine: {
      ...engine({}),
      get documents() {
        return documents as Engine['documents'];
      },
    },
    leaving: staying,
    nowMs: () => now,
  });
  const at = async (ms: number, isUp: boolean) => {
    [now, documents] = [ms, isUp ? answers : fails];
    const { status, parts } = await check();
    return [status, parts.database];
  };
  expect(await at(0, true)).toEqual(['ok', 'ok']);
  expect(await at(60_000, false)).toEqual(['ok', 'down']);
  expect(await at(60_000 + readinessGraceMs - 1, false)).toEqual(['ok', 'down']);
  expect(await at(60_000 + readinessGraceMs, false)).toEqual(['down', 'down']);
  expect(await at(80_000, true)).toEqual(['ok', 'ok']);
  expect(await at(80_001, false)).toEqual(['ok', 'down']);
});

test('grants no grace to a component that was never up', async () => {
  let now = 0;
  const check = readinessCheck({ engine: engine({ bus: fails }), leaving: staying, nowMs: () => now });
  expect(await check()).toMatchObject({ status: 'down', parts: { bus: 'down' } });
  now = 1;
  expect(await check()).toMatchObject({ status: 'down', parts: { bus: 'down' } });
});

test('reports not ready while the process shuts down, also during the grace', async () => {
  const leaving = new AbortController();
  let bus: object = answers;
  const check = readinessCheck({
    engine: {
      ...engine({}),
      get bus() {
        return bus as Engine['bus'];
      },
    },
    leaving: leaving.signal,
  });
  expect(await check()).toMatchObject({ status: 'ok' });
  bus = fails;
  expect(await check()).toMatchObject({ status: 'ok', parts: { bus: 'down' } });
  leaving.abort();
  expect(await check()).toEqual({ status: 'down', parts: { log: 'ok', database: 'ok', queue: 'ok', bus: 'down' } });
});
