import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { systemClock } from '../../../platform/clock.ts';
import { openLogger } from '../../../platform/logger.ts';
import { eventLogContract } from '../../../contracts/event-log/event-log.contract.ts';
import {
  appendTo,
  collector,
  expectGrowing,
  newGroup,
  readAll,
  testRecord,
} from '../../../contracts/event-log/event-log.fixtures.ts';
import type { EventLog } from '../../../ports/event-log.ts';
import { eventually } from '../../../testing/eventually.ts';
import { migrate } from '../sqlite/migrations.ts';
import { openSqliteEventLog } from './sqlite-event-log.ts';
import { newSqlitePlace, testMigrations } from './sqlite-event-log.place.ts';
import { SqliteFile } from '../sqlite/sqlite-file.ts';
import { openSqliteMessages } from '../messages/sqlite-messages.ts';

eventLogContract('sqlite', newSqlitePlace);

describe('sqlite: the event log in a shared file', () => {
  const quiet = openLogger('test', 'silent');
  let directory: string;
  let file: SqliteFile;
  let messages: ReturnType<typeof openSqliteMessages>;
  let log: EventLog;

  const openFile = () => {
    file = new SqliteFile(join(directory, 'test.db'));
    migrate(file, testMigrations);
    messages = openSqliteMessages({ file, clock: systemClock });
    log = openSqliteEventLog({ file, table: messages, log: quiet });
  };
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'tocsin-log-'));
    openFile();
  });
  afterEach(async () => {
    await log.close();
    file.close();
    rmSync(directory, { recursive: true });
  });

  test('appends once and in order after a group commit was rolled back because of other work', async () => {
    const first = log.append(0, testRecord({ title: '1' }), 'alarms');
    const failing = file.write(() => {
      throw new Error('an error of other work');
    });
    const second = log.append(0, testRecord({ title: '2' }), 'alarms');
    await expect(failing).rejects.toThrow('an error of other work');
    const third = log.append(0, testRecord({ title: '3' }), 'alarms');
    const offsets = await Promise.all([first, second, third]);
    expectGrowing(offsets);
    const seen = await readAll(log, 3);
    expect(seen.map(({ offset, record }) => [offset, record.message.title])).toEqual(
      offsets.map((offset, index) => [offset, `${index + 1}`]),
    );
  });

  test('collects frequent records into fewer batches, but not the first', async () => {
    const batches: number[] = [];
    const collect = { baseMs: 1_000, perRecordMs: 0, maxMs: 1_000 };
    await log.consume({
      group: newGroup(),
      collect,
      onBatch: async ({ records }) => void batches.push(records.length),
    });
    for (let count = 0; count < 20; count += 1) {
      await log.append(0, testRecord(), 'alarms');
      if (count === 0) await eventually(() => expect(batches).toEqual([1]));
    }
    await eventually(() => expect(batches.reduce((sum, records) => sum + records)).toBe(20));
    expect(batches.length).toBeLessThan(10);
  });

  test('does not wait for records to collect when it closes', async () => {
    const handled = Promise.withResolvers<void>();
    const hour = 3_600_000;
    const consumption = await log.consume({
      group: newGroup(),
      collect: { baseMs: hour, perRecordMs: 0, maxMs: hour },
      onBatch: async () => handled.resolve(),
    });
    await log.append(0, testRecord(), 'alarms');
    await handled.promise;
    await consumption.close();
  });

  test('fails only the record that the table rejects', async () => {
    const table = messages;
    await log.close();
    log = openSqliteEventLog({
      file,
      log: quiet,
      table: {
        ...table,
        applySync: (records) => {
          if (records.some(({ record }) => record.message.title === 'refused')) throw new Error('refused');
          table.applySync(records);
        },
      },
    });
    const outcomes = await Promise.allSettled(
      ['a', 'refused', 'b'].map((title) => log.append(0, testRecord({ title }), 'alarms')),
    );
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(outcomes[1]).toMatchObject({ reason: { code: 'unavailable' } });
    const seen = await readAll(log, 2);
    expect(seen.map(({ record }) => record.message.title)).toEqual(['a', 'b']);
  });

  test('a slow consumer reads evicted records from the file, without a gap', async () => {
    const release = Promise.withResolvers<void>();
    const reader = collector();
    await log.consume({
      group: newGroup(),
      onBatch: async (batch) => {
        await release.promise;
        await reader.onBatch(batch);
      },
    });
    await log.append(0, testRecord(), 'alarms');
    await appendTo(log, 12_000);
    release.resolve();
    await eventually(() => reader.seen.length >= 12_001);
    const offsets = reader.offsets();
    expectGrowing(offsets);
    expect(offsets.length).toBe(12_001);
  });

  test('keeps a group’s stored offset after a crash', async () => {
    const group = newGroup();
    await appendTo(log, 10);
    const reader = collector();
    await log.consume({ group, onBatch: reader.onBatch });
    await eventually(() => {
      const row = file.db.prepare('SELECT position FROM consumer_positions WHERE group_name = ?').get(group);
      expect(row?.position).toBe(reader.offsets().at(-1)! + 1);
    });
  });

  test('a consumer at the head skips offsets of removed records', async () => {
    await appendTo(log, 10);
    await messages.removeExpired(Date.now() + 2 * 86_400_000, 100);
    await log.close();
    file.close();
    openFile();
    const group = newGroup();
    const reader = collector();
    await log.consume({ group, onBatch: reader.onBatch });
    const [id] = await appendTo(log, 1);
    await eventually(() => expect(reader.ids()).toEqual(new Set([id])));
    expect(reader.offsets()).toEqual([10]);
  });

  test('has one partition', async () => {
    expect(log.partitions).toBe(1);
    await expect(log.append(1, testRecord(), 'alarms')).rejects.toThrow(RangeError);
  });
});
