import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { openLogger } from '../../../platform/logger.ts';
import { busContract, type BusPlace } from '../../../contracts/bus/bus.contract.ts';
import type { Bus } from '../../../ports/bus/bus.ts';
import type { BudgetWindow } from '../../../ports/bus/rate-limiter.ts';
import { eventually } from '../../../testing/eventually.ts';
import { budgetsMigration } from './budget-table.ts';
import { openMemoryBus } from './memory-bus.ts';
import { migrate } from '../sqlite/migrations.ts';
import { SqliteFile } from '../sqlite/sqlite-file.ts';

const quiet = openLogger('test', 'silent');

/** A new file for budgets, and a clock that only the test advances. */
function newMemoryPlace(): Promise<BusPlace & { file: SqliteFile }> {
  const directory = mkdtempSync(join(tmpdir(), 'tocsin-bus-'));
  const file = new SqliteFile(join(directory, 'test.db'));
  migrate(file, [budgetsMigration]);
  let now = Date.UTC(2026, 0, 1, 12);
  return Promise.resolve({
    file,
    hasManyNodes: false,
    open: () => Promise.resolve(openMemoryBus({ clock: () => now, budgetFile: file, log: quiet })),
    now: () => now,
    advanceTime: (ms) => {
      now += ms;
      return Promise.resolve();
    },
    remove: () => {
      file.close();
      return Promise.resolve(rmSync(directory, { recursive: true }));
    },
  });
}

busContract('memory', newMemoryPlace);

test('memory: no channel without a subscriber is heard', async () => {
  const place = await newMemoryPlace();
  const bus = await place.open();
  expect(bus.isHeard('a')).toBe(false);
  const subscription = await bus.subscribe('a', () => undefined);
  expect([bus.isHeard('a'), bus.isHeard('b')]).toEqual([true, false]);
  await subscription.close();
  expect(bus.isHeard('a')).toBe(false);
  await bus.close();
  await place.remove();
});

describe('memory: budgets in the file', () => {
  let place: Awaited<ReturnType<typeof newMemoryPlace>>;
  let bus: Bus;

  beforeEach(async () => {
    place = await newMemoryPlace();
    bus = await place.open();
  });
  afterEach(async () => {
    await bus.close();
    await place.remove();
  });

  const hour = (key: string): BudgetWindow => ({ key, limit: 5, span: { lengthMs: 3_600_000 } });
  const rows = () =>
    place.file.db
      .prepare('SELECT key, uses FROM budgets ORDER BY key')
      .all()
      .map((row) => ({ ...row }));

  test('saves budgets within seconds, without a close', async () => {
    await bus.takeBudget([hour('a')], place.now());
    await eventually(() => expect(rows()).toEqual([{ key: 'a', uses: 1 }]));
    await bus.takeBudget([hour('a')], place.now());
    await bus.takeBudget([hour('b')], place.now());
    await bus.refundBudget([hour('b')], place.now());
    await eventually(() =>
      expect(rows()).toEqual([
        { key: 'a', uses: 2 },
        { key: 'b', uses: 0 },
      ]),
    );
  });

  test('writes a durable use with the next commit, but not with a rolled-back one', async () => {
    const publish = { ...hour('publish'), isDurable: true };
    await bus.takeBudget([publish, hour('address')], place.now());
    const failed = place.file.write(() => {
      throw new Error('no');
    });
    await expect(failed).rejects.toThrow('no');
    expect(rows()).toEqual([]);
    await place.file.write(() => undefined);
    expect(rows()).toEqual([{ key: 'publish', uses: 1 }]);
    await bus.takeBudget([publish], place.now());
    await bus.refundBudget([publish], place.now());
    await bus.takeBudget([publish], place.now());
    await place.file.write(() => undefined);
    expect(rows()).toEqual([{ key: 'publish', uses: 2 }]);
  });

  test('saves durable uses within seconds even without commits', async () => {
    await bus.takeBudget([{ ...hour('a'), isDurable: true }], place.now());
    await eventually(() => expect(rows()).toEqual([{ key: 'a', uses: 1 }]));
  });

  test('removes all ended budgets from the file', async () => {
    for (let n = 0; n < 2_500; n += 1) await bus.takeBudget([hour(`old-${n}`)], place.now());
    await eventually(() => expect(rows().length).toBe(2_500));
    await place.advanceTime(3_600_001);
    await bus.takeBudget([hour('new')], place.now());
    await eventually(() => expect(rows()).toEqual([{ key: 'new', uses: 1 }]));
  });

  test('counts while the file is not writable, and retries', async () => {
    place.file.db.exec('ALTER TABLE budgets RENAME TO elsewhere');
    for (let n = 0; n < 3; n += 1)
      await bus.takeBudget([hour('a'), { ...hour('durable'), isDurable: true }], place.now());
    expect(await place.file.write(() => 'written')).toBe('written');
    await bus.close();
    place.file.db.exec('ALTER TABLE elsewhere RENAME TO budgets');
    bus = await place.open();
    await bus.takeBudget([hour('a')], place.now());
    await eventually(() => expect(rows()).toEqual([{ key: 'a', uses: 1 }]));
  });

  test('counts in memory without a file', async () => {
    const own = openMemoryBus({ clock: place.now, log: quiet });
    await own.takeBudget([hour('a')], place.now());
    expect(await own.peekBudget([hour('a')], place.now())).toMatchObject({ windows: [{ remaining: 4 }] });
    await own.close();
  });
});
