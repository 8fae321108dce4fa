import { expect, test } from '@jest/globals';
import { eventually } from '../../testing/eventually.ts';
import type { Child } from './event-log.child-process.ts';
import { appendTo, collector, expectGrowing, newGroup, readAll, testRecord } from './event-log.fixtures.ts';
import type { Consumption, EventLog } from '../../ports/event-log.ts';

/** Time limit for tests that wait for the engine's session timeout after a process was killed. */
export const slowTestMs = 180_000;

/** Consumers that join and leave a group. */
export function describeMemberships(open: () => Promise<EventLog>): void {
  test('close aborts the batch’s signal, waits for the handler, and commits completed batches', async () => {
    const log = await open();
    const group = newGroup();
    const ids = await appendTo(log, 5, 0);
    let finished = false;
    const handlerStarted = Promise.withResolvers<void>();
    const consumption = await log.consume({
      group,
      onBatch: async ({ signal, partition, records }) => {
        if (partition !== 0 || records.length < 5) return;
        handlerStarted.resolve();
        await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
        await new Promise((resolve) => setImmediate(resolve));
        finished = true;
      },
    });
    await handlerStarted.promise;
    await consumption.close();
    expect(finished).toBe(true);

    const next = collector();
    await log.consume({ group, onBatch: next.onBatch });
    const [last] = await appendTo(log, 1, 0);
    await eventually(() => next.ids().has(last!));
    for (const id of ids) expect(next.ids().has(id)).toBe(false);
  });

  test('closing twice resolves, and closing the log closes its consumers', async () => {
    const log = await open();
    const consumption = await log.consume({ group: newGroup(), onBatch: () => Promise.resolve() });
    await consumption.close();
    await expect(consumption.close()).resolves.toBeUndefined();
    const left = await log.consume({ group: newGroup(), onBatch: () => Promise.resolve() });
    await log.close();
    await expect(log.close()).resolves.toBeUndefined();
    await expect(left.close()).resolves.toBeUndefined();
    await expect(log.append(0, testRecord(), 'alarms')).rejects.toMatchObject({ code: 'unavailable' });
  });

  test(
    'members of a group share partitions and hand over without loss on close',
    async () => {
      const log = await open();
      const group = newGroup();
      const readers = [collector(), collector()];
      const consumptions: Consumption[] = [];
      for (const reader of readers) consumptions.push(await log.consume({ group, onBatch: reader.onBatch }));
      const both = () => new Set([...readers[0]!.ids(), ...readers[1]!.ids()]);

      const whileBoth = await appendTo(log, 60);
      await eventually(() => expect(both()).toEqual(new Set(whileBoth)));
      const appending = appendTo(log, 200);
      await consumptions[0]!.close();
      const countAtClose = readers[0]!.seen.length;
      const during = await appending;
      const after = await appendTo(log, 60);
      await eventually(() => expect(both()).toEqual(new Set([...whileBoth, ...during, ...after])));
      expect(readers[0]!.seen.length).toBe(countAtClose);
      for (const reader of readers) reader.expectOrdered();
    },
    slowTestMs,
  );
}

/** Processes that are killed while they append or consume. */
export function describeCrashes(
  open: () => Promise<EventLog>,
  start: (mode: 'append' | 'consume', group?: string) => Child,
  place: () => { readonly hasManyClients: boolean },
): void {
  test(
    'keeps records acknowledged by a killed process, in order',
    async () => {
      const child = start('append');
      await eventually(() => child.lines.length > 300);
      await child.kill();
      const acknowledged = child.lines.map(
        (line) => JSON.parse(line) as { caller: number; partition: number; id: string; offset: number },
      );

      const log = await open();
      const seen = await readAll(log, acknowledged.length);
      const offsets = new Map(seen.map(({ offset, record }) => [record.message.id, offset]));
      for (const { id, offset } of acknowledged) expect(offsets.get(id)).toBe(offset);
      for (const own of Map.groupBy(acknowledged, ({ caller }) => caller).values())
        expectGrowing(own.map(({ offset }) => offset));
      const next = await log.append(0, testRecord(), 'alarms');
      expectGrowing([
        ...acknowledged
          .filter(({ partition }) => partition === 0)
          .map(({ offset }) => offset)
          .sort((a, b) => a - b),
        next,
      ]);
    },
    slowTestMs,
  );

  test(
    'redelivers the batch of a killed member to the next one',
    async () => {
      const group = newGroup();
      const before = await open();
      const ids = await appendTo(before, 40);
      if (!place().hasManyClients) await before.close();
      const child = start('consume', group);
      await eventually(() => child.lines.length >= 5);
      await child.kill();

      const log = place().hasManyClients ? before : await open();
      const reader = collector();
      await log.consume({ group, onBatch: reader.onBatch });
      await eventually(() => expect(reader.ids()).toEqual(new Set(ids)));
    },
    slowTestMs,
  );
}
