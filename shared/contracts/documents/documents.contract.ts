import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { killAfterLines } from '../../testing/write-until-killed.ts';
import { appended, lefts, newThing, rights, things, type Thing } from '../../testing/thing.ts';
import { describeReadsById } from './documents-by-id.contract.ts';
import { agreesWithModel } from './documents-model.contract.ts';
import { describeCommit, describeRaces } from './documents-commits.contract.ts';
import { describeDeclarations, describeRefusals } from './documents-declarations.contract.ts';
import { describeAppendOnly } from './documents-append-only.contract.ts';
import { StaleVersion, write, type Collection, type Document, type Documents } from '../../ports/documents.ts';

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

  test('a find by a unique key returns only documents without null in its fields', async () => {
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
