import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { newThing, things } from '../../testing/thing.ts';
import type { Documents } from '../../ports/documents.ts';

/** The contract of reads by ID. */
export function describeReadsById(at: () => Documents): void {
  test('a missing document is null, and omitted from many', async () => {
    const [here, gone] = [randomUUID(), randomUUID()];
    await at().insert(things, newThing(here));
    expect(await at().get(things, gone)).toBeNull();
    expect((await at().getMany(things, [gone, here, here])).map(({ id }) => id)).toEqual([here]);
    expect((await at().getMany(things, [here, here])).map(({ id }) => id)).toEqual([here]);
    expect(await at().getMany(things, [])).toEqual([]);
  });

  test('returns only the picked fields with their IDs', async () => {
    const [here, gone] = [
      await at().insert(things, newThing(randomUUID(), { rank: 7, extra: { a: [1] }, score: null })),
      randomUUID(),
    ];
    expect(
      await at().pick(things, [gone, here.id, here.id], ['rank', 'extra', 'isActive', 'score', 'version']),
    ).toEqual([{ id: here.id, rank: 7, extra: { a: [1] }, isActive: here.isActive, score: null, version: 1 }]);
    expect(await at().pick(things, [here.id, here.id], [])).toEqual([{ id: here.id }]);
    expect(await at().pick(things, [gone], [])).toEqual([]);
    expect(await at().pick(things, [], ['rank'])).toEqual([]);
    await expect(at().pick(things, [here.id], ['unknown' as 'rank'])).rejects.toThrow('field unknown is not declared');
  });
}
