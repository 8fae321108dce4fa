import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { LogRecord } from '../../domain/messages/log-record.ts';
import { eventually } from '../../testing/eventually.ts';
import { startChild, type Child } from './event-log.child-process.ts';
import {
  appendTo,
  collector,
  expectGrowing,
  newGroup,
  partitionsOf,
  readAll,
  testRecord,
} from './event-log.fixtures.ts';
import { describeCrashes, describeMemberships, slowTestMs } from './event-log-members.contract.ts';
import type { ConsumeOptions, EventLog } from '../../ports/event-log.ts';
import { fullExtras } from '../messages/messages.fixtures.ts';

/** A log's storage on its engine, which outlives the log and its process. */
export interface EventLogPlace {
  /** Opens the log at this place; several can be open only if `hasManyClients`. */
  open(): Promise<EventLog>;
  /** The module whose export `openEventLogAt(address)` opens the log in another process, and its argument. */
  readonly child: { readonly module: string; readonly address: string };
  /** Whether several processes can use the log at the same time. */
  readonly hasManyClients: boolean;
  remove(): Promise<void>;
}

/** The contract of every event log, with a new place for each test. */
export function eventLogContract(name: string, newPlace: () => Promise<EventLogPlace>): void {
  describe(`${name}: the event log's contract`, () => {
    let place: EventLogPlace;
    let opened: EventLog[];
    let children: Child[];

    beforeEach(async () => {
      opened = [];
      children = [];
      place = await newPlace();
    });
    afterEach(async () => {
      for (const child of children) await child.kill();
      for (const log of opened) await log.close();
      await place.remove();
    }, slowTestMs);

    const open = async (): Promise<EventLog> => {
      const log = await place.open();
      opened.push(log);
      return log;
    };
    const start = (mode: 'append' | 'consume', group?: string): Child => {
      const child = startChild(mode, place.child, group);
      children.push(child);
      return child;
    };

    appending(open);
    consuming(open);
    describeMemberships(open);
    describeCrashes(open, start, () => place);
  });
}

function appending(open: () => Promise<EventLog>): void {
  test('assigns increasing offsets per partition', async () => {
    const log = await open();
    for (const partition of partitionsOf(log)) {
      const offsets: number[] = [];
      for (let n = 0; n < 5; n += 1) offsets.push(await log.append(partition, testRecord(), 'alarms'));
      expectGrowing(offsets);
      expect(await log.end(partition)).toBe(offsets.at(-1)! + 1);
    }
  });

  test('offsets continue to increase when the log is reopened', async () => {
    const first = await open();
    const before = await first.append(0, testRecord(), 'alarms');
    await first.close();
    const second = await open();
    expect(await second.end(0)).toBe(before + 1);
    expect(await second.append(0, testRecord(), 'alarms')).toBeGreaterThan(before);
  });

  test('concurrent appends keep each caller’s order and store each record once', async () => {
    const log = await open();
    const callers = 32;
    const appended = await Promise.all(
      Array.from({ length: callers }, async (_, caller) => {
        const partition = caller % log.partitions;
        const own: { id: string; offset: number }[] = [];
        for (let n = 0; n < 25; n += 1) {
          const record = testRecord({ title: `caller ${caller}` });
          own.push({ id: record.message.id, offset: await log.append(partition, record, 'alarms') });
        }
        return own;
      }),
    );
    const seen = await readAll(log, callers * 25);
    const offsets = new Map(seen.map(({ offset, record }) => [record.message.id, offset]));
    expect(offsets.size).toBe(seen.length);
    for (const own of appended) {
      expectGrowing(own.map(({ offset }) => offset));
      for (const { id, offset } of own) expect(offsets.get(id)).toBe(offset);
    }
  });

  test('keeps the order of concurrent appends of one caller', async () => {
    const log = await open();
    const records = Array.from({ length: 200 }, () => testRecord());
    const offsets = await Promise.all(records.map((record) => log.append(0, record, 'alarms')));
    expectGrowing(offsets);
    const seen = await readAll(log, records.length);
    expect(seen.map(({ record }) => record.message.id)).toEqual(records.map(({ message }) => message.id));
  });

  test('delivers a record’s trace to consumers at the head', async () => {
    const log = await open();
    const trace = {
      traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
      tracestate: 'congo=t61rcWkgMzE',
    };
    const { onBatch, seen } = collector();
    await log.consume({ group: newGroup(), onBatch });
    await log.append(0, { ...testRecord(), trace }, 'alarms');
    await log.append(0, testRecord(), 'alarms');
    await eventually(() => expect(seen).toHaveLength(2));
    expect(seen.map(({ record }) => record.trace)).toEqual([trace, undefined]);
  });

  test('returns every field of a record unchanged, including four-byte characters', async () => {
    const log = await open();
    const full = testRecord({
      message: `${'🚨'.repeat(4_000 - 4)}é\n\u0000"`,
      title: '標題 🗼',
      priority: 5,
      tags: ['ä', '🏷️', 'a,b'],
      markdown: true,
      ...fullExtras,
    });
    const plain = testRecord({ message: ' ', title: null, priority: 1, tags: [] });
    for (const record of [full, plain]) await log.append(0, record, 'alarms');
    const seen = await readAll(log, 2);
    expect(seen.map(({ record }) => record)).toEqual([full, plain]);
  });

  test('edits and deletions are separate records with the message’s ID', async () => {
    const log = await open();
    const published = testRecord();
    const at = published.timestamp;
    const edited: LogRecord = {
      type: 'message_edited',
      timestamp: at + 1_000,
      message: { ...published.message, message: 'better', isEdited: true, editedAt: at + 1_000 },
    };
    const deleted: LogRecord = {
      type: 'message_deleted',
      timestamp: at + 2_000,
      message: { ...edited.message, message: '', title: null, tags: [], isDeleted: true, deletedAt: at + 2_000 },
    };
    const offsets: number[] = [];
    for (const record of [published, edited, deleted]) offsets.push(await log.append(0, record, 'alarms'));
    expectGrowing(offsets);
    const seen = await readAll(log, 3);
    expect(seen.map(({ record }) => record.type)).toEqual(['message', 'message_edited', 'message_deleted']);
    expect(seen.map(({ record }) => record.timestamp)).toEqual([at, at + 1_000, at + 2_000]);
    expect(seen.map(({ record }) => record.message.id)).toEqual(
      [published, published, published].map(({ message }) => message.id),
    );
    expect(seen.at(-1)!.record).toEqual(deleted);
  });

  test('an empty log ends at its start and responds to a ping', async () => {
    const log = await open();
    for (const partition of partitionsOf(log)) expect(await log.end(partition)).toBe(0);
    await log.ping();
  });

  test('a closed log rejects appends as unavailable', async () => {
    const log = await open();
    await log.close();
    await expect(log.append(0, testRecord(), 'alarms')).rejects.toMatchObject({ code: 'unavailable' });
  });
}

function consuming(open: () => Promise<EventLog>): void {
  test('a new group starts at the start of the log and continues with new records', async () => {
    const log = await open();
    const before = await appendTo(log, 30);
    const reader = collector();
    await log.consume({ group: newGroup(), onBatch: reader.onBatch });
    await eventually(() => reader.ids().size === 30);
    const after = await appendTo(log, 30);
    await eventually(() => reader.ids().size === 60);
    expect(reader.ids()).toEqual(new Set([...before, ...after]));
    reader.expectOrdered();
  });

  test('limits the batch size and reports where the next batch starts', async () => {
    const log = await open();
    await appendTo(log, 40);
    const sizes: number[] = [];
    const reader = collector();
    await log.consume({
      group: newGroup(),
      batchSizeMax: 7,
      onBatch: (batch) => {
        sizes.push(batch.records.length);
        expect(batch.nextOffset).toBeGreaterThan(batch.records.at(-1)!.offset);
        return reader.onBatch(batch);
      },
    });
    await eventually(() => reader.ids().size === 40);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(7);
    expect(Math.min(...sizes)).toBeGreaterThan(0);
  });

  test('a new member resumes at the committed offset of a closed one', async () => {
    const log = await open();
    const group = newGroup();
    await appendTo(log, 20);
    const first = collector();
    const consumption = await log.consume({ group, onBatch: first.onBatch });
    await eventually(() => first.ids().size === 20);
    await consumption.close();
    await log.close();

    const again = await open();
    const later = await appendTo(again, 20);
    const second = collector();
    await again.consume({ group, onBatch: second.onBatch });
    await eventually(() => second.ids().size === 20);
    expect(second.ids()).toEqual(new Set(later));
  });

  test('reports the lag of a group', async () => {
    const log = await open();
    const group = newGroup();
    await appendTo(log, 5);
    expect(await log.lag(group)).toBe(5);
    const first = collector();
    const consumption = await log.consume({ group, onBatch: first.onBatch });
    await eventually(async () => expect(await log.lag(group)).toBe(0));
    expect(first.ids().size).toBe(5);
    await consumption.close();
    await appendTo(log, 3);
    expect(await log.lag(group)).toBe(3);
    expect(await log.lag(newGroup())).toBe(8);
  });

  test('delivers all records to each of two groups', async () => {
    const log = await open();
    const readers = [collector(), collector()];
    for (const reader of readers) await log.consume({ group: newGroup(), onBatch: reader.onBatch });
    const ids = await appendTo(log, 20);
    for (const reader of readers) await eventually(() => expect(reader.ids()).toEqual(new Set(ids)));
  });

  test('startAt overrides the committed offset in both directions', async () => {
    const log = await open();
    const group = newGroup();
    const offsets: number[] = [];
    for (let n = 0; n < 10; n += 1) offsets.push(await log.append(0, testRecord(), 'alarms'));
    const startingAt = async (offset: number | null, options: Partial<ConsumeOptions> = {}) => {
      const reader = collector();
      const consumption = await log.consume({
        group,
        onBatch: reader.onBatch,
        startAt: (partition) => Promise.resolve(partition === 0 ? offset : null),
        ...options,
      });
      return { reader, consumption };
    };
    const forward = await startingAt(offsets[7]!);
    await eventually(() => forward.reader.seen.length === 3);
    await forward.consumption.close();
    const back = await startingAt(offsets[2]!, { batchSizeMax: 3 });
    await eventually(() => back.reader.seen.length === 8);
    await back.consumption.close();
    const continued = await startingAt(null);
    const last = await log.append(0, testRecord(), 'alarms');
    await eventually(() => continued.reader.seen.length > 0);
    expect(forward.reader.offsets()).toEqual(offsets.slice(7));
    expect(back.reader.offsets()).toEqual(offsets.slice(2));
    expect(continued.reader.offsets()).toEqual([last]);
  });

  test('retries a failing startAt without skipping records', async () => {
    const log = await open();
    const ids = await appendTo(log, 10);
    let asked = 0;
    const reader = collector();
    await log.consume({
      group: newGroup(),
      onBatch: reader.onBatch,
      startAt: () => (++asked <= 2 ? Promise.reject(new Error('the store is down')) : Promise.resolve(0)),
    });
    await eventually(() => expect(reader.ids()).toEqual(new Set(ids)));
    reader.expectOrdered();
  });

  test('retries a failed batch with the same records until it succeeds', async () => {
    const log = await open();
    const offsets: number[] = [];
    for (let n = 0; n < 6; n += 1) offsets.push(await log.append(0, testRecord(), 'alarms'));
    const attempts: number[][] = [];
    const reader = collector();
    await log.consume({
      group: newGroup(),
      batchSizeMax: 3,
      onBatch: (batch) => {
        attempts.push(batch.records.map(({ offset }) => offset));
        return attempts.length <= 3 ? Promise.reject(new Error('not yet')) : reader.onBatch(batch);
      },
    });
    await eventually(() => reader.seen.length === 6);
    expect(attempts.slice(0, 4)).toEqual(Array.from({ length: 4 }, () => offsets.slice(0, 3)));
    expect(reader.offsets()).toEqual(offsets);
  });

  test('a slow handler does not delay appends', async () => {
    const log = await open();
    const release = Promise.withResolvers<void>();
    const handlerStarted = Promise.withResolvers<void>();
    const consumption = await log.consume({
      group: newGroup(),
      onBatch: () => {
        handlerStarted.resolve();
        return release.promise;
      },
    });
    await appendTo(log, 10);
    await handlerStarted.promise;
    await appendTo(log, 100);
    release.resolve();
    await consumption.close();
  });
}
