import { expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { newThing, things } from '../../testing/thing.ts';
import { type Collection, type Document, type Documents } from '../../ports/documents.ts';

const fresh = () => randomUUID();

/** Changes of a collection's declaration between versions. */
export function describeDeclarations(
  fixture: () => { open(collections: readonly Collection<Document>[]): Promise<Documents> },
): void {
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
  const inAnotherProcess = (collection: Collection<Note>) =>
    fixture().open([collection as unknown as Collection<Document>]);

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

  test('a retired key is not enforced', async () => {
    const before = declare('notesFreed', { uniqueKeys: { text: ['text'] } });
    await (await inAnotherProcess(before)).insert(before, { id: fresh(), text: 'same' });
    const after = declare('notesFreed', { retired: ['text'] });
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
      { retired: ['byText'] },
      { fields: { text: 'json' } as Collection<Note>['fields'] },
    ];
    for (const given of wrong) await expect(inAnotherProcess(declare('notesWrong', given))).rejects.toThrow(TypeError);
  });
}

/** Values and queries that violate the declaration. */
export function describeRefusals(at: () => Documents): void {
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
