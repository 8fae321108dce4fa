import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { appended } from '../../testing/thing.ts';
import { StaleVersion, write, type Documents } from '../../ports/documents.ts';

/** The contract of append-only collections. */
export function describeAppendOnly(at: () => Documents): void {
  test('append-only documents can be inserted, found and removed, but not changed', async () => {
    const id = randomUUID();
    await at().commit([write.insert(appended, { id, rank: 1 })]);
    for (const change of [
      () => at().update(appended, { id, version: 1 }, { rank: 2 }),
      () => at().increment(appended, id, { rank: 1 }),
      () => at().raise(appended, [id], { field: 'rank', to: 2 }),
      () => at().commit([write.update(appended, { id, version: 1 }, { rank: 2 })]),
      () => at().commit([write.update(appended, { id, version: 1 }, {})]),
      () => at().commit([write.increment(appended, id, { rank: 1 })]),
    ])
      await expect(change()).rejects.toThrow(TypeError);
    expect(await at().find(appended, { index: 'byRank', equals: { rank: 1 }, limit: 10 })).toEqual([
      { id, version: 1, rank: 1 },
    ]);
    expect(await at().remove(appended, id)).toBe(true);
  });

  test('concurrent accumulations insert a document once and sum one of its fields', async () => {
    const [summed, once] = [randomUUID(), randomUUID()];
    await Promise.all(
      Array.from({ length: 20 }, (_, rank) =>
        at().commit([
          write.accumulate(appended, { id: summed, rank: 2 }, 'rank'),
          write.accumulate(appended, { id: once, rank }, null),
        ]),
      ),
    );
    expect(await at().get(appended, summed)).toEqual({ id: summed, version: 1, rank: 40 });
    expect(await at().get(appended, once)).toMatchObject({ version: 1 });
    const failing = at().commit([
      write.accumulate(appended, { id: summed, rank: 1 }, 'rank'),
      write.require(appended, { id: once, version: 2 }),
    ]);
    await expect(failing).rejects.toThrow(StaleVersion);
    expect(await at().get(appended, summed)).toMatchObject({ rank: 40 });
    await expect(at().commit([write.accumulate(appended, { id: summed, rank: null! }, 'rank')])).rejects.toThrow(
      TypeError,
    );
  });
}
