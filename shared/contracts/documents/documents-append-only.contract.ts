import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { appended } from '../../testing/thing.ts';
import { write, type Documents } from '../../ports/documents.ts';

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
}
