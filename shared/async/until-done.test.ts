import { expect, test } from '@jest/globals';
import { untilDone, type RetryTime } from './until-done.ts';

const refused = new Error('refused');

/** A clock that only the pauses of retries advance; it aborts the signal when the outage has lasted this long. */
function startOutage(lengthMs: number) {
  const abort = new AbortController();
  const attemptsAt: number[] = [];
  const reports: { atMs: number; failures: number }[] = [];
  let now = 0;
  const time: RetryTime = {
    nowMs: () => now,
    pause: (ms) => {
      now += ms;
      if (now > lengthMs) abort.abort();
      return Promise.resolve();
    },
  };
  const fail = () => {
    attemptsAt.push(now);
    return Promise.reject(refused);
  };
  const onFailure = (_: unknown, failures: number) => reports.push({ atMs: now, failures });
  return { fail, time, options: { signal: abort.signal, onFailure }, attemptsAt, reports };
}

test('resolves with the value of the first success', async () => {
  const { time, options, reports } = startOutage(60_000);
  let attempts = 0;
  const work = () => {
    attempts += 1;
    if (attempts < 3) throw refused;
    return 'done';
  };
  expect(await untilDone(work, options, time)).toBe('done');
  expect(reports).toEqual([
    { atMs: 0, failures: 1 },
    { atMs: 100, failures: 2 },
  ]);
});

test('retries after pauses that double up to a second', async () => {
  const { fail, time, options, attemptsAt } = startOutage(5_000);
  expect(await untilDone(fail, options, time)).toBeUndefined();
  expect(attemptsAt).toEqual([0, 100, 300, 700, 1_500, 2_500, 3_500, 4_500]);
});

test('reports the failures of an hour at most every ten seconds, apart from the first', async () => {
  const { fail, time, options, attemptsAt, reports } = startOutage(3_600_000);
  await untilDone(fail, options, time);
  expect(attemptsAt.length).toBeGreaterThan(3_600);
  expect(reports.slice(0, 8).map(({ failures }) => failures)).toEqual([1, 2, 3, 4, 5, 7, 11, 18]);
  const apart = reports.slice(8).map(({ atMs }, index) => atMs - reports[index + 7]!.atMs);
  expect(new Set(apart)).toEqual(new Set([10_000]));
});

test('ends an attempt that fails after the abort without a report', async () => {
  const abort = new AbortController();
  const { time, options, reports } = startOutage(60_000);
  const work = () => {
    abort.abort();
    throw refused;
  };
  expect(await untilDone(work, { ...options, signal: abort.signal }, time)).toBeUndefined();
  expect(reports).toEqual([]);
});
