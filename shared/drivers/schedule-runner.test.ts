import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { openLogger } from '../platform/logger.ts';
import { ScheduleRunner, type StoredSchedule } from './schedule-runner.ts';

let now: number;
let schedules: StoredSchedule[];
let fired: string[];
let fire: (id: string, slot: number) => Promise<void>;
let runner: ScheduleRunner;

const start = async (): Promise<void> => {
  const store = {
    load: () => Promise.resolve(schedules),
    fire: async ({ id }: { id: string }, slot: number) => {
      await fire(id, slot);
      fired.push(`${id}.${slot}`);
    },
  };
  runner = new ScheduleRunner({ store, clock: () => now, log: openLogger('test', 'silent') });
  await runner.refresh();
};

const at = async (time: number): Promise<void> => {
  now = time;
  await runner.refresh();
};

beforeEach(() => {
  now = 10_000;
  schedules = [{ id: 's', every: 1_000, data: {}, definedAt: 0 }];
  fired = [];
  fire = () => Promise.resolve();
});
afterEach(() => runner.close());

test('fires each due slot after the start once', async () => {
  await start();
  await at(10_999);
  expect(fired).toEqual([]);
  await at(11_000);
  await at(11_001);
  await at(13_500);
  expect(fired).toEqual(['s.11000', 's.12000', 's.13000']);
});

test('fires a schedule that another replica created', async () => {
  schedules = [];
  await start();
  schedules = [{ id: 's', every: 1_000, data: {}, definedAt: 11_500 }];
  await at(12_400);
  expect(fired).toEqual(['s.12000']);
});

test('skips slots older than a minute', async () => {
  await start();
  await at(10_000 + 3_600_000);
  expect(fired.length).toBe(60);
  expect(fired.at(-1)).toBe('s.3610000');
});

test('catches up on at most the latest hundred slots of a short interval', async () => {
  schedules = [{ id: 's', every: 10, data: {}, definedAt: 0 }];
  await start();
  await at(20_000);
  expect(fired.length).toBe(100);
  expect(fired.at(-1)).toBe('s.20000');
});

test('retries a failed slot without blocking other schedules', async () => {
  schedules = [...schedules, { id: 't', every: 1_000, data: {}, definedAt: 0 }];
  await start();
  fire = (id) => (id === 's' ? Promise.reject(new Error('away')) : Promise.resolve());
  await at(11_000);
  expect(fired).toEqual(['t.11000']);
  fire = () => Promise.resolve();
  await at(11_900);
  expect(fired).toEqual(['t.11000', 's.11000']);
});

test('stops a removed schedule and applies a changed interval', async () => {
  await start();
  schedules = [{ id: 's', every: 1_500, data: {}, definedAt: 11_200 }];
  await at(12_000);
  expect(fired).toEqual(['s.12000']);
  await at(13_500);
  schedules = [];
  await at(15_000);
  expect(fired).toEqual(['s.12000', 's.13500']);
});
