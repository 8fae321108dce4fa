import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { killAfterLines } from '../../testing/write-until-killed.ts';
import { appended, lefts, newThing, rights, things, type Thing } from '../../testing/thing.ts';
import { describeReadsById } from './documents-by-id.contract.ts';
import { agreesWithModel } from './documents-model.contract.ts';
import { describeAppendOnly } from './documents-append-only.contract.ts';
import {
  StaleVersion,
  UniqueKeyViolation,
  write,
  type Collection,
  type Document,
  type Documents,
} from '../../ports/documents.ts';

/** A storage used only by the test. */
export interface DocumentsFixture {
  /** Opens the storage like another process; closed with the fixture. */
  open(collections: readonly Collection<Document>[]): Promise<Documents>;
  /** Module code that opens the storage with `thingCollections` in another process, as `documents`. */
  readonly childCode: string;
  close(): Promise<void>;
}

/** The contract of the documents port, which every driver runs on its real engine. */
export function documentsContract(name: string, start: () => Promise<DocumentsFixture>): void {
  describe(`${name} keeps documents`, () => {
    let fixture: DocumentsFixture;
    let documents: Documents;
    beforeAll(async () => {
      fixture = await start();
      documents = await fixture.open(erased([things, lefts, rights, appended]));
    });
    afterAll(() => fixture.close());

    for (const part of [
      describeReadsById,
      describeSingleWrites,
      describeFind,
      describeRaces,
      describeCommit,
      describeRefusals,
      describeAppendOnly,
    ])
      part(() => documents);
    for (const part of [describeDeclarations]) part(() => fixture);

    test('any sequence of operations matches the model', () => agreesWithModel(documents));

    test('acknowledged writes survive SIGKILL, and no commit is partial', async () => {
      const killed = await start();
      const kept = await killAfterLines(
        `${killed.childCode}
        const { writeForever } = await import(${JSON.stringify(new URL('../../testing/write-until-killed.ts', import.meta.url).href)});
        await writeForever(documents);`,
        200,
      );
      const after = await killed.open(erased([things, lefts, rights]));
      for (const collection of [things, lefts]) {
        const found = await after.getMany(collection as typeof lefts, kept.slice(0, 1_000));
        expect(new Set(found.map(({ id }) => id))).toEqual(new Set(kept.slice(0, 1_000)));
      }
      const halves = await Promise.all(
        [lefts, rights].map((half) => after.find(half, { index: 'byPair', equals: {}, limit: 10_000 })),
      );
      expect(halves[0]).toEqual(halves[1]);
      await killed.close();
    });
  });
}

const erased = (collections: readonly unknown[]) => collections as readonly Collection<Document>[];
const fresh = () => randomUUID();
const newest = async (documents: Documents, id: string) => (await documents.get(things, id))!;

function describeSingleWrites(at: () => Documents): void {
  test('reads an inserted document with version 1', async () => {
    const document = newThing(fresh(), {
      score: 0.1,
      rank: -3,
      madeAt: 1_760_000_000_000,
      isActive: false,
      extra: { deep: [1, null, 'x'] },
    });
    expect(await at().insert(things, document)).toEqual({ ...document, version: 1 });
    expect(await at().get(things, document.id)).toEqual({ ...document, version: 1 });
  });

  test('an update of the stored version sets the given fields and increments the version', async () => {
    const document = await at().insert(things, newThing(fresh(), { rank: 1, extra: { a: 1 } }));
    const updated = await at().update(things, document, { score: 2.5, extra: null, email: undefined });
    expect(updated).toEqual({ ...document, score: 2.5, extra: null, version: 2 });
    expect(await newest(at(), document.id)).toEqual(updated);
  });

  test('an update of another version, or of a removed document, is stale and changes nothing', async () => {
    const document = await at().insert(things, newThing(fresh()));
    const stale = at().update(things, { id: document.id, version: 2 }, { rank: 9 });
    await expect(stale).rejects.toThrow(new StaleVersion('things', document.id));
    await expect(stale).rejects.toBeInstanceOf(StaleVersion);
    expect(await newest(at(), document.id)).toEqual(document);
    await expect(at().update(things, { id: fresh(), version: 1 }, { rank: 9 })).rejects.toBeInstanceOf(StaleVersion);
  });

  test('rejects a duplicate key by name, on insert and on update', async () => {
    const [email, team] = [fresh(), fresh()];
    const first = await at().insert(things, newThing(fresh(), { email, team, rank: 1 }));
    const other = await at().insert(things, newThing(fresh()));
    await expect(at().insert(things, newThing(first.id))).rejects.toMatchObject({
      name: 'UniqueKeyViolation',
      collection: 'things',
      key: 'id',
    });
    await expect(at().insert(things, newThing(fresh(), { email }))).rejects.toMatchObject({ key: 'email' });
    await expect(at().insert(things, newThing(fresh(), { team, rank: 1 }))).rejects.toMatchObject({ key: 'teamRank' });
    await expect(at().update(things, other, { email })).rejects.toMatchObject({ key: 'email' });
    await expect(at().update(things, other, { team, rank: 1 })).rejects.toMatchObject({ key: 'teamRank' });
    expect(await newest(at(), other.id)).toEqual(other);
  });

  test('a null exempts a document from a key, and keys are case-sensitive', async () => {
    const team = fresh();
    for (const given of [
      { email: null },
      { email: null },
      { team, rank: 0, email: 'A' + team },
      { email: 'a' + team },
    ]) {
      await at().insert(things, newThing(fresh(), given));
    }
    await expect(at().insert(things, newThing(fresh(), { team, rank: 0 }))).rejects.toMatchObject({ key: 'teamRank' });
  });

  test('a key is free after its document is removed or changes it', async () => {
    const [one, two] = [fresh(), fresh()];
    const first = await at().insert(things, newThing(fresh(), { email: one }));
    await at().update(things, first, { email: two });
    const second = await at().insert(things, newThing(fresh(), { email: one }));
    expect(await at().remove(things, second.id)).toBe(true);
    expect(await at().remove(things, second.id)).toBe(false);
    await at().insert(things, newThing(fresh(), { email: one }));
  });

  test('a raise sets lower or null values, keeps the version, and ignores removed documents', async () => {
    const ids = (
      await Promise.all([null as never, 3, 5, 7].map((madeAt) => at().insert(things, newThing(fresh(), { madeAt }))))
    ).map(({ id }) => id);
    await at().raise(things, [...ids, fresh()], { field: 'madeAt', to: 5 });
    await at().raise(things, ids, { field: 'madeAt', to: 4 });
    expect(
      (await Promise.all(ids.map((id) => at().get(things, id)))).map((thing) => [thing!.madeAt, thing!.version]),
    ).toEqual([
      [5, 1],
      [5, 1],
      [5, 1],
      [7, 1],
    ]);
  });

  test('an increment adds, treats null as 0, keeps the version, and ignores a removed document', async () => {
    const { id } = await at().insert(things, newThing(fresh(), { rank: 5 }));
    await at().increment(things, id, { rank: 2 });
    await at().increment(things, id, { rank: -10 });
    expect(await newest(at(), id)).toMatchObject({ rank: -3, version: 1 });
    await at().increment(things, fresh(), { rank: 1 });
  });

  test.each([
    '{"$ne":null}',
    "'; DROP TABLE doc_things; --",
    '"',
    '\\',
    '%_*?',
    '$where',
    'a.b',
    '\u0000 after a zero',
    'ﬁ ß İ 😀',
    '',
    ' ',
  ])('stores the text %j like any value', async (text) => {
    const team = fresh();
    const document = await at().insert(
      things,
      newThing(`${team}${text}`, { name: text, email: `${team}${text}`, team, extra: { text } }),
    );
    expect(await at().get(things, document.id)).toEqual(document);
    expect(await at().find(things, { index: 'email', equals: { email: `${team}${text}` }, limit: 2 })).toEqual([
      document,
    ]);
    expect(await at().find(things, { index: 'byTeam', equals: { team, name: text }, limit: 2 })).toEqual([document]);
    expect(await at().find(things, { index: 'byTeam', equals: { team }, from: text, to: text, limit: 2 })).toEqual([
      document,
    ]);
    expect(await at().getMany(things, [document.id])).toEqual([document]);
  });

  test.each([
    '{"__proto__":{"isAdmin":true},"constructor":1}',
    '{"$ne":null}',
    '{"$set":{"rank":1}}',
    '{"a.b":1,"":2,"a":{"$gt":""}}',
    '[]',
    '{}',
    '[[],[{}],null]',
    '"text"',
    '""',
    '0',
    '-1.5',
    '1e300',
    '9007199254740991',
    'true',
    'false',
    '{"_bsontype":"ObjectId","id":1}',
    '{"toJSON":1}',
    '{"2":1,"1":2,"b":3,"a":4}',
    '"\\ud800 \\u0000"',
    '{"text":"\\udfff"}',
    '{"json":"{}"}',
    '{"$date":"2020-01-01"}',
    '{"a\\u0000b":1}',
  ])('returns the JSON value %s unchanged', async (json) => {
    const expected = JSON.stringify(JSON.parse(json));
    const { id, version } = await at().insert(things, newThing(fresh(), { extra: JSON.parse(json) as unknown }));
    expect(JSON.stringify((await newest(at(), id)).extra)).toBe(expected);
    expect(({} as { isAdmin?: boolean }).isAdmin).toBeUndefined();
    await at().update(things, { id, version }, { extra: null });
    const again = await at().update(things, { id, version: version + 1 }, { extra: JSON.parse(json) as unknown });
    expect(JSON.stringify(again.extra)).toBe(expected);
    expect(JSON.stringify((await newest(at(), id)).extra)).toBe(expected);
  });
}

function describeFind(at: () => Documents): void {
  const insertRow = async (given: Partial<Thing>, id: string = fresh()) =>
    (await at().insert(things, newThing(id, given))).id;

  test('a find is ordered by the rest of the index, then by ID, in both directions', async () => {
    const name = fresh();
    const ids = ['c', 'a', 'b'].map((letter) => `${name}-${letter}`);
    const [late, first, second] = await Promise.all(
      ids.map((id, place) => insertRow({ name, madeAt: place === 0 ? 9 : 5 }, id)),
    );
    const find = (descending: boolean) =>
      at().find(things, { index: 'byName', equals: { name }, descending, limit: 10 });
    expect((await find(false)).map(({ id }) => id)).toEqual([first, second, late]);
    expect((await find(true)).map(({ id }) => id)).toEqual([late, second, first]);
  });

  test('bounds are inclusive and exclude nulls; without bounds, nulls come first', async () => {
    const team = fresh();
    const rows = await Promise.all(['b', 'c', 'd'].map((name) => insertRow({ team, name, rank: name.charCodeAt(0) })));
    const find = (bounds: { from?: string; to?: string }) =>
      at().find(things, { index: 'byTeam', equals: { team }, ...bounds, limit: 10 });
    expect((await find({ from: 'b', to: 'c' })).map(({ id }) => id)).toEqual(rows.slice(0, 2));
    expect((await find({ from: 'bb' })).map(({ id }) => id)).toEqual(rows.slice(1));
    expect(await find({ to: 'a' })).toEqual([]);
    const teamless = await insertRow({ team: null, name: team });
    const upToTeam = await at().find(things, { index: 'byTeam', equals: {}, to: team, limit: 10_000 });
    expect(upToTeam.map(({ id }) => id)).not.toContain(teamless);
    const all = (await at().find(things, { index: 'byTeam', equals: {}, limit: 10_000 })).map(({ id }) => id);
    expect(all.indexOf(teamless)).toBeLessThan(all.indexOf(rows[0]!));
    expect(all.indexOf(teamless)).toBeGreaterThanOrEqual(0);
  });

  test('a page deep in an index equals one at its start', async () => {
    const name = fresh();
    const count = 230;
    await at().commit(
      Array.from({ length: count }, (_, place) =>
        write.insert(things, newThing(fresh(), { name, madeAt: Math.floor(((place * 7) % count) / 3) })),
      ),
    );
    for (const descending of [false, true]) {
      const query = { index: 'byName', equals: { name }, descending } as const;
      const all = await at().find(things, { ...query, limit: count });
      expect(await at().find(things, { ...query, limit: 20, offset: 205 })).toEqual(all.slice(205, 225));
      expect(await at().find(things, { ...query, limit: 20, offset: count - 3 })).toEqual(all.slice(-3));
    }
  });

  test('limit and offset select a page, and count ignores them', async () => {
    const name = fresh();
    const ids = await Promise.all([0, 1, 2, 3, 4].map((madeAt) => insertRow({ name, madeAt })));
    const query = { index: 'byName', equals: { name }, limit: 2 } as const;
    expect((await at().find(things, { ...query, offset: 1 })).map(({ id }) => id)).toEqual(ids.slice(1, 3));
    expect((await at().find(things, { ...query, offset: 1, descending: true })).map(({ id }) => id)).toEqual([
      ids[3],
      ids[2],
    ]);
    expect(await at().find(things, { ...query, offset: 5 })).toEqual([]);
    expect(await at().find(things, { ...query, limit: 0 })).toEqual([]);
    expect(await at().count(things, { ...query, offset: 4 })).toBe(5);
    expect(await at().count(things, { index: 'byName', equals: { name }, from: 1, to: 3 })).toBe(3);
    expect(await at().count(things, { index: 'byName', equals: { name: fresh() } })).toBe(0);
  });

  test('finds booleans by equality and sorts false before true', async () => {
    const name = fresh();
    const [on, off] = [
      await insertRow({ name, isActive: true, rank: 1 }),
      await insertRow({ name, isActive: false, rank: 2 }),
    ];
    expect(
      (await at().find(things, { index: 'byActive', equals: { name, isActive: true }, limit: 9 })).map(({ id }) => id),
    ).toEqual([on]);
    expect((await at().find(things, { index: 'byActive', equals: { name }, limit: 9 })).map(({ id }) => id)).toEqual([
      off,
      on,
    ]);
  });

  test('a find through a unique key only returns documents bound by it', async () => {
    const team = fresh();
    const bound = await insertRow({ team, rank: 3, email: fresh() });
    await insertRow({ email: null, team: null, rank: 3 });
    expect(
      (await at().find(things, { index: 'teamRank', equals: { team }, from: 1, limit: 9 })).map(({ id }) => id),
    ).toEqual([bound]);
    const withEmail = await at().find(things, { index: 'email', equals: {}, limit: 10_000 });
    expect(withEmail.map(({ id }) => id)).toContain(bound);
    expect(withEmail.filter(({ email }) => email === null)).toEqual([]);
  });
}

function describeRaces(at: () => Documents): void {
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

function describeCommit(at: () => Documents): void {
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

function describeDeclarations(fixture: () => DocumentsFixture): void {
  interface Note extends Document {
    readonly text: string;
    readonly color?: string | null;
  }
  const declare = (name: string, given: Partial<Collection<Note>> = {}): Collection<Note> => ({
    name,
    fields: { text: 'text' } as Collection<Note>['fields'],
    uniqueKeys: {},
    indexes: { byText: ['text'] },
    ...given,
  });
  const inAnotherProcess = (collection: Collection<Note>) => fixture().open(erased([collection]));

  test('a later declared field, key and index apply to existing documents', async () => {
    const before = declare('notesGrown');
    const old = await (await inAnotherProcess(before)).insert(before, { id: fresh(), text: 'old' });
    const after = declare('notesGrown', {
      fields: { text: 'text', color: 'text' },
      uniqueKeys: { color: ['color'] },
      indexes: { byText: ['text', 'color'] },
    });
    const documents = await inAnotherProcess(after);
    expect(await documents.get(after, old.id)).toEqual({ ...old, color: null });
    expect(await documents.find(after, { index: 'byText', equals: { text: 'old' }, limit: 2 })).toEqual([
      { ...old, color: null },
    ]);
    await documents.update(after, old, { color: 'red' });
    await expect(documents.insert(after, { id: fresh(), text: 'x', color: 'red' })).rejects.toMatchObject({
      key: 'color',
    });
  });

  test('a key that is no longer declared is not enforced', async () => {
    const before = declare('notesFreed', { uniqueKeys: { text: ['text'] } });
    await (await inAnotherProcess(before)).insert(before, { id: fresh(), text: 'same' });
    const after = declare('notesFreed');
    await (await inAnotherProcess(after)).insert(after, { id: fresh(), text: 'same' });
  });

  test('rejects a new key that existing documents violate', async () => {
    const before = declare('notesBroken');
    const documents = await inAnotherProcess(before);
    await documents.insert(before, { id: fresh(), text: 'same' });
    await documents.insert(before, { id: fresh(), text: 'same' });
    await expect(inAnotherProcess(declare('notesBroken', { uniqueKeys: { text: ['text'] } }))).rejects.toThrow(
      /notesBroken|notes_broken/,
    );
  });

  test('rejects invalid declarations', async () => {
    const wrong: Partial<Collection<Note>>[] = [
      { name: 'bad name' },
      { name: 'x"; DROP TABLE y' },
      { indexes: { byText: [] } },
      { indexes: { 'by-text': ['text'] } },
      { indexes: { byText: ['color'] } },
      { uniqueKeys: { byText: ['text'] } },
      { fields: { text: 'json' } as Collection<Note>['fields'] },
    ];
    for (const given of wrong) await expect(inAnotherProcess(declare('notesWrong', given))).rejects.toThrow(TypeError);
  });
}

function describeRefusals(at: () => Documents): void {
  const wrong = (value: unknown) => value as never;

  test('a value of the wrong kind is a programming error, not a query', async () => {
    const id = fresh();
    await expect(at().get(things, wrong({ $ne: null }))).rejects.toThrow(TypeError);
    await expect(at().getMany(things, [wrong({ $ne: null })])).rejects.toThrow(TypeError);
    await expect(
      at().find(things, { index: 'byName', equals: { name: wrong({ $gt: '' }) }, limit: 1 }),
    ).rejects.toThrow(TypeError);
    await expect(
      at().find(things, { index: 'byName', equals: { name: 'x' }, from: wrong({ $gt: '' }), limit: 1 }),
    ).rejects.toThrow(TypeError);
    for (const given of [
      { name: 5 },
      { rank: 1.5 },
      { rank: '1' },
      { isActive: 1 },
      { madeAt: NaN },
      { score: Infinity },
      { unknown: 1 },
    ]) {
      await expect(at().insert(things, newThing(id, wrong(given)))).rejects.toThrow(TypeError);
      await expect(at().update(things, { id, version: 1 }, wrong(given))).rejects.toThrow(TypeError);
    }
    await expect(at().increment(things, id, wrong({ score: 1 }))).rejects.toThrow(TypeError);
    await expect(at().remove(things, wrong({ $ne: null }))).rejects.toThrow(TypeError);
    expect(await at().get(things, id)).toBeNull();
  });

  test('rejects a query without a declared index', async () => {
    const find = (query: object) => at().find(things, { limit: 1, equals: {}, ...query } as never);
    for (const query of [
      { index: 'byRank' },
      { index: 'constructor' },
      { index: 'byName', equals: { madeAt: 1 } },
      { index: 'byName', equals: { name: null } },
      { index: 'byName', equals: { name: 'x', madeAt: 1, rank: 1 } },
      { index: 'byName', equals: { name: 'x', madeAt: 1 }, from: 1 },
      { index: 'byName', equals: { name: 'x' }, from: 'text' },
    ])
      await expect(find(query)).rejects.toThrow(TypeError);
    for (const cut of [{ limit: 10_001 }, { limit: -1 }, { limit: 1.5 }, { offset: -1 }]) {
      await expect(find({ index: 'byName', ...cut })).rejects.toThrow(RangeError);
    }
    await expect(at().getMany(things, Array.from({ length: 1_001 }, String))).rejects.toThrow(RangeError);
    await expect(at().get({ ...things, name: 'unopened' }, 'x')).rejects.toThrow(TypeError);
  });
}
