import { expect, test } from '@jest/globals';
import { eventually } from '../../testing/eventually.ts';
import type { Child } from '../../testing/start-child.ts';
import { collect, type Stage } from './job-queue.fixtures.ts';
import type { Job } from '../../ports/job-queue.ts';

const minuteMs = 60_000;

/** Returns the IDs of the jobs that the children started. */
const idsOf = (children: readonly Child[]): string[] =>
  children.flatMap(({ lines }) =>
    lines.filter((line) => line.includes('"id"')).map((line) => (JSON.parse(line) as Job).id),
  );

/** Returns the slot times of the jobs. */
const slotsOf = (ids: readonly string[]): number[] =>
  ids.map((id) => Number(id.split('.').at(-1))).sort((a, b) => a - b);

/** The contract of schedules. */
export function scheduling({ queue, open, startChild }: Stage): void {
  test('a schedule with two processes fires once per slot', async () => {
    const children = [startChild({ runs: 'end' }), startChild({ runs: 'end' })];
    for (const child of children) await eventually(() => child.lines.includes('"ready"'));
    const jobs = await open();
    await jobs.schedule(queue, { id: 'sweep', every: 250, data: {} });
    const slots = () => slotsOf(idsOf(children));
    await eventually(() => slots().length >= 12);
    const last = slots().at(-1)!;
    // One process can print a later slot before the other one prints an earlier slot.
    await eventually(() => {
      const upToLast = slots().filter((slot) => slot <= last);
      expect(upToLast).toEqual(upToLast.map((_, index) => upToLast[0]! + index * 250));
    });
    for (const slot of slots()) expect(slot % 250).toBe(0);
  });

  test('a cron expression uses UTC and fires once over two processes', async () => {
    const clockAheadMs = minuteMs - (Date.now() % minuteMs) - 4_000; // four seconds before the start of a minute
    const clock = () => Date.now() + clockAheadMs;
    const jobs = await open(clock);
    const first = Math.ceil(clock() / minuteMs) * minuteMs;
    // The second minute allows for a machine that needs more than four seconds to start two processes.
    const [one, two] = [new Date(first), new Date(first + minuteMs)];
    const minutes = `${one.getUTCMinutes()},${two.getUTCMinutes()}`;
    await jobs.schedule(queue, {
      id: 'at',
      every: `${minutes} ${one.getUTCHours()},${two.getUTCHours()} * * *`,
      data: { kind: 'daily' },
    });
    await jobs.schedule(queue, { id: 'each', every: '* * * * *', data: {} });
    await jobs.schedule(queue, { id: 'not', every: `${minutes} ${(one.getUTCHours() + 12) % 24} * * *`, data: {} });
    const children = [startChild({ runs: 'end', clockAheadMs }), startChild({ runs: 'end', clockAheadMs })];
    await eventually(() => expect(idsOf(children).length).toBeGreaterThanOrEqual(2), { timeoutMs: 75_000 });
    await jobs.schedule(queue, { id: 'end', every: 200, data: {} });
    await eventually(() => idsOf(children).filter((id) => id.startsWith('end.')).length >= 5);
    const ids = idsOf(children).filter((id) => !id.startsWith('end.'));
    const slots = [...new Set(slotsOf(ids))];
    expect(ids.sort()).toEqual(slots.flatMap((slot) => [`at.${slot}`, `each.${slot}`]).sort());
    for (const slot of slots) expect([first, first + minuteMs]).toContain(slot);
  });

  test('does not catch up on slots without workers', async () => {
    const jobs = await open();
    await jobs.schedule(queue, { id: 'sweep', every: 200, data: {} });
    const until = Date.now() + 1_000;
    await eventually(() => Date.now() > until);
    expect(await jobs.counts(queue)).toMatchObject({ waiting: 0, delayed: 0 });
    const startedAt = Date.now();
    const { ids } = await collect(jobs, queue);
    await eventually(() => ids().length >= 3);
    for (const id of ids()) expect(Number(id.split('.')[1])).toBeGreaterThan(startedAt - 1);
  });

  test('a replaced schedule uses its new data and interval, and a removed one ends', async () => {
    const [jobs, other] = [await open(), await open()];
    const { runs } = await collect(other, queue);
    await jobs.schedule(queue, { id: 'sweep', every: 200, data: { version: 1 } });
    await eventually(() => runs.length >= 2);
    await jobs.schedule(queue, { id: 'sweep', every: 300, data: { version: 2 } });
    await eventually(() => expect(runs.at(-1)!.data).toEqual({ version: 2 }));
    const changed = runs.length;
    await eventually(() => runs.length >= changed + 3);
    for (const { id, data } of runs.slice(changed))
      expect([data, Number(id.split('.')[1]) % 300]).toEqual([{ version: 2 }, 0]);
    await jobs.unschedule(queue, 'sweep');
    await jobs.unschedule(queue, 'sweep');
    await jobs.schedule(queue, { id: 'other', every: 500, data: {} });
    await eventually(() => runs.filter(({ id }) => id.startsWith('other.')).length >= 1);
    const last = runs.length;
    await eventually(() => runs.length >= last + 3);
    for (const { id } of runs.slice(last)) expect(id).toMatch(/^other\./);
  });

  test('a schedule outlives the process that created it', async () => {
    const before = await open();
    await before.schedule(queue, { id: 'sweep', every: 200, data: { kept: true } });
    await before.close();
    const { runs } = await collect(await open(), queue);
    await eventually(() => runs.length >= 2);
    expect(runs[0]!.data).toEqual({ kept: true });
  });

  test('rejects an invalid interval, cron expression and ID', async () => {
    const jobs = await open();
    for (const every of [0, -5, 1.5, 'often', '61 * * * *', '* * * * * *']) {
      await expect(jobs.schedule(queue, { id: 'sweep', every, data: {} })).rejects.toThrow(RangeError);
    }
    await expect(jobs.schedule(queue, { id: 'a:b', every: 1_000, data: {} })).rejects.toThrow(RangeError);
  });
}
