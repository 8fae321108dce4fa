import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { Counter, Histogram, Registry } from 'prom-client';
import type { Engine } from '../ports/engine.ts';
import { RecentMetrics } from './recent-metrics.ts';

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

const start = Date.UTC(2030, 0, 1);
const counts = { waiting: 2, delayed: 1, active: 5, failed: 7 };
const answering = {
  eventLog: { lag: (group: string) => Promise.resolve(group === 'fanout' ? 3 : 4) },
  jobQueue: { counts: () => Promise.resolve(counts) },
};
const down = {
  eventLog: { lag: () => Promise.reject(new Error('down')) },
  jobQueue: { counts: () => new Promise<never>(() => {}) },
};

/** Metrics of a process whose clock the test sets; `after` lets time pass. */
function open(metrics: Registry, engine: object = answering) {
  const recent = new RecentMetrics({
    engine: engine as Pick<Engine, 'eventLog' | 'jobQueue'>,
    metrics,
    clock: () => Date.now(),
    nowMs: () => Date.now() - start,
  });
  return { recent, after: (ms: number) => jest.advanceTimersByTimeAsync(ms) };
}

function requestsOf(metrics: Registry) {
  return new Histogram({
    name: 'tocsin_http_request_seconds',
    help: 'requests',
    labelNames: ['operation', 'status'],
    registers: [metrics],
  });
}

test('returns rates since an earlier sample, and the depths of the installation', async () => {
  jest.setSystemTime(start);
  const metrics = new Registry();
  const requests = requestsOf(metrics);
  const { recent, after } = open(metrics);
  await after(10_000);
  for (const [operation, status] of [
    ['publish', '2xx'],
    ['publishJson', '2xx'],
    ['publish', '4xx'],
    ['getHistory', '2xx'],
    ['getHistory', '5xx'],
  ] as const)
    requests.observe({ operation, status }, 0.01);
  const { samples, queues } = await recent.read();
  expect(samples).toEqual([
    {
      at: '2030-01-01T00:00:00.000Z',
      publishes_per_second: null,
      server_errors_per_second: null,
      pushes_per_second: null,
      fanout_lag_records: 3,
      notifier_lag_records: 4,
      queued_jobs: queues!.length * 3,
      open_streams: 0,
    },
    expect.objectContaining({
      at: '2030-01-01T00:00:10.000Z',
      publishes_per_second: 0.2,
      server_errors_per_second: 0.1,
      pushes_per_second: null,
    }),
  ]);
  expect(queues).toContainEqual({ queue: 'push-normal', ...counts });
  await recent.close();
});

test('counts the pushes of a process that sends some', async () => {
  jest.setSystemTime(start);
  const metrics = new Registry();
  const labelNames = ['platform', 'status'];
  const outcomes = new Counter({
    name: 'tocsin_push_outcomes_total',
    help: 'pushes',
    labelNames,
    registers: [metrics],
  });
  const { recent, after } = open(metrics);
  await after(5_000);
  outcomes.inc({ platform: 'expo', status: 'sent' }, 10);
  outcomes.inc({ platform: 'expo', status: 'failed' }, 90);
  expect((await recent.read()).samples.at(-1)).toMatchObject({ pushes_per_second: 2 });
  await recent.close();
});

test('keeps the samples of an hour', async () => {
  jest.setSystemTime(start);
  const { recent, after } = open(new Registry());
  await after(2 * 3_600_000);
  const { samples } = await recent.read();
  expect(samples).toHaveLength(241);
  expect(samples[0]!.at).toBe('2030-01-01T01:00:15.000Z');
  await recent.close();
});

test('returns null for what an engine that is down does not tell', async () => {
  jest.setSystemTime(start);
  const { recent, after } = open(new Registry(), down);
  const read = recent.read();
  await after(2_500);
  const { samples, queues } = await read;
  expect([samples.at(-1), queues]).toMatchObject([
    { fanout_lag_records: null, notifier_lag_records: null, queued_jobs: null },
    null,
  ]);
  await recent.close();
});
