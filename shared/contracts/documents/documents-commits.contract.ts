import { expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { lefts, newThing, rights, things } from '../../testing/thing.ts';
import { StaleVersion, UniqueKeyViolation, write, type Documents } from '../../ports/documents.ts';

const fresh = () => randomUUID();
const newest = async (documents: Documents, id: string) => (await documents.get(things, id))!;

/** Concurrent writes of one key or version. */
export function describeRaces(at: () => Documents): void {
  const outcomes = async (runs: readonly Promise<unknown>[]) => {
    const settled = await Promise.allSettled(runs);
    return {
      won: settled.filter(({ status }) => status === 'fulfilled').length,
      lost: settled.flatMap((one) => (one.status === 'rejected' ? [one.reason as Error] : [])),
    };
  };
  const times = <T>(count: number, make: (turn: number) => T) => Array.from({ length: count }, (_, turn) => make(turn));

  test('one of 50 concurrent inserts of one key wins', async () => {
    const email = fresh();
    const { won, lost } = await outcomes(times(50, () => at().insert(things, newThing(fresh(), { email }))));
    expect(won).toBe(1);
    expect(lost.filter((error) => error instanceof UniqueKeyViolation && error.key === 'email')).toHaveLength(49);
    expect(await at().count(things, { index: 'email', equals: { email } })).toBe(1);
  });

  test('one of 50 concurrent updates of one version wins', async () => {
    const document = await at().insert(things, newThing(fresh()));
    const { won, lost } = await outcomes(times(50, (rank) => at().update(things, document, { rank })));
    expect(won).toBe(1);
    expect(lost.filter((error) => error instanceof StaleVersion)).toHaveLength(49);
    expect((await newest(at(), document.id)).version).toBe(2);
  });

  test('concurrent increments are exact, alone and in commits', async () => {
    const { id } = await at().insert(things, newThing(fresh()));
    await Promise.all(
      times(100, (turn) =>
        turn % 4 === 0
          ? at().commit([write.increment(things, id, { rank: 1 }), write.insert(lefts, { id: fresh(), pairOf: id })])
          : at().increment(things, id, { rank: 1 }),
      ),
    );
    expect(await newest(at(), id)).toMatchObject({ rank: 100, version: 1 });
    expect(await at().count(lefts, { index: 'byPair', equals: { pairOf: id } })).toBe(25);
  });

  test('one of several concurrent commits that require and change the same version wins', async () => {
    const document = await at().insert(things, newThing(fresh()));
    const { won, lost } = await outcomes(
      times(20, (rank) =>
        at().commit([
          write.insert(lefts, { id: fresh(), pairOf: document.id }),
          write.update(things, document, { rank }),
        ]),
      ),
    );
    expect(won).toBe(1);
    expect(lost.filter((error) => error instanceof StaleVersion)).toHaveLength(19);
    expect(await at().count(lefts, { index: 'byPair', equals: { pairOf: document.id } })).toBe(1);
  });

  test('300 concurrent commits that require the same two documents succeed', async () => {
    const [first, second] = [
      await at().insert(things, newThing(fresh())),
      await at().insert(things, newThing(fresh())),
    ];
    const both = [write.require(things, first), write.require(things, second)];
    const commits = times(300, (turn) =>
      at().commit([
        ...(turn % 2 === 0 ? both : both.toReversed()),
        write.insert(lefts, { id: fresh(), pairOf: first.id }),
      ]),
    );
    expect((await outcomes(commits)).lost).toEqual([]);
    expect(await at().count(lefts, { index: 'byPair', equals: { pairOf: first.id } })).toBe(300);
  });

  test('a required document cannot change during a commit', async () => {
    const owner = await at().insert(things, newThing(fresh()));
    const { lost } = await outcomes([
      ...times(10, () =>
        at().commit([write.require(things, owner), write.insert(lefts, { id: fresh(), pairOf: owner.id })]),
      ),
      at()
        .remove(things, owner.id)
        .then(async () =>
          at().insert(rights, {
            id: owner.id,
            pairOf: String(await at().count(lefts, { index: 'byPair', equals: { pairOf: owner.id } })),
          }),
        ),
    ]);
    expect(lost.filter((error) => !(error instanceof StaleVersion))).toEqual([]);
    const atRemoval = Number((await at().get(rights, owner.id))?.pairOf);
    expect(await at().count(lefts, { index: 'byPair', equals: { pairOf: owner.id } })).toBe(atRemoval);
  });
}

/** Writes that take effect together or not at all. */
export function describeCommit(at: () => Documents): void {
  test('a commit runs all its writes in order', async () => {
    const [kept, gone] = await Promise.all(
      [fresh(), fresh()].map((id) => at().insert(things, newThing(id, { email: id }))),
    );
    const added = fresh();
    await at().commit([
      write.require(things, kept!),
      write.remove(things, gone!.id, 1),
      write.insert(things, newThing(added, { email: gone!.email })),
      write.update(things, kept!, { rank: 4 }),
      write.update(things, { id: kept!.id, version: 2 }, { score: 1 }),
      write.increment(things, added, { rank: 7 }),
      write.remove(things, fresh()),
    ]);
    expect(await newest(at(), kept!.id)).toMatchObject({ rank: 4, score: 1, version: 3 });
    expect(await at().get(things, gone!.id)).toBeNull();
    expect(await newest(at(), added)).toMatchObject({ email: gone!.email, rank: 7, version: 1 });
    await at().commit([]);
  });

  test('a commit with a failing last write changes nothing', async () => {
    const taken = await at().insert(things, newThing(fresh(), { email: fresh() }));
    const failures = [
      [write.insert(things, newThing(fresh(), { email: taken.email })), { name: 'UniqueKeyViolation', key: 'email' }],
      [write.insert(things, newThing(taken.id)), { name: 'UniqueKeyViolation', key: 'id' }],
      [write.update(things, { id: taken.id, version: 7 }, { rank: 1 }), { name: 'StaleVersion', id: taken.id }],
      [write.remove(things, taken.id, 2), { name: 'StaleVersion' }],
      [write.require(things, { id: taken.id, version: 2 }), { name: 'StaleVersion' }],
      [write.require(things, { id: fresh(), version: 1 }), { name: 'StaleVersion' }],
    ] as const;
    for (const [last, failure] of failures) {
      const id = fresh();
      const bystander = at().insert(lefts, { id: fresh(), pairOf: id });
      const writes = [
        write.insert(lefts, { id, pairOf: id }),
        write.increment(things, taken.id, { rank: 1 }),
        write.remove(lefts, fresh()),
        last,
      ];
      await expect(at().commit(writes)).rejects.toMatchObject(failure);
      await bystander;
      expect(await at().get(lefts, id)).toBeNull();
      expect(await newest(at(), taken.id)).toEqual(taken);
    }
  });

  test('consecutive removals are atomic and report the first changed version', async () => {
    const made = await Promise.all(Array.from({ length: 4 }, () => at().insert(things, newThing(fresh()))));
    const removal = (place: number, version = 1) => write.remove(things, made[place]!.id, version);
    await expect(at().commit([removal(0), removal(1, 2), removal(2), removal(3, 3)])).rejects.toMatchObject({
      name: 'StaleVersion',
      id: made[1]!.id,
    });
    await expect(at().commit([removal(0), write.remove(things, fresh(), 1)])).rejects.toMatchObject({
      name: 'StaleVersion',
    });
    expect(
      await at().getMany(
        things,
        made.map(({ id }) => id),
      ),
    ).toHaveLength(4);
    await at().commit([
      removal(0),
      removal(1),
      write.remove(things, made[2]!.id),
      write.remove(things, fresh()),
      write.remove(things, made[3]!.id),
    ]);
    expect(
      await at().getMany(
        things,
        made.map(({ id }) => id),
      ),
    ).toEqual([]);
  });

  test('commits a thousand writes', async () => {
    const pairOf = fresh();
    const inserts = Array.from({ length: 999 }, () => write.insert(lefts, { id: fresh(), pairOf }));
    await at().commit([...inserts, write.insert(rights, { id: fresh(), pairOf })]);
    expect(await at().count(lefts, { index: 'byPair', equals: { pairOf } })).toBe(999);
    await expect(at().commit([...inserts, ...inserts])).rejects.toThrow(RangeError);
  });
}
