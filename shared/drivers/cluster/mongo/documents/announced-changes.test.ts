import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { openLogger } from '../../../../platform/logger.ts';
import { checksumOf } from '../../../../platform/ids.ts';
import type { AnyCollection } from '../../../../ports/document-checks.ts';
import { write, type Collection } from '../../../../ports/documents.ts';
import { describeWithEngines } from '../../../../testing/describe-with-engines.ts';
import { newThing, things as uncached, type Thing } from '../../../../testing/thing.ts';
import { mongoTestDatabase, type MongoTestDatabase } from '../mongo-test-database.fixtures.ts';
import { ChangeAnnouncements } from './announced-changes.ts';
import { openMongoDocuments, type MongoDocuments } from './mongo-documents.ts';

const things: Collection<Thing> = { ...uncached, cached: { lateFields: ['rank', 'madeAt'] } };
const withoutLateFields: Collection<Thing> = { ...uncached, cached: { lateFields: [] } };
const others: Collection<Thing> = { ...uncached, name: 'others' };
const collections = [things, others] as unknown as AnyCollection[];

describeWithEngines('announced changes in MongoDB', ({ mongoUrl }) => {
  let database: MongoTestDatabase;
  let documents: MongoDocuments;
  const open = async () =>
    openMongoDocuments({ connection: await database.connect(), collections, log: openLogger('test', 'silent') });
  beforeEach(async () => {
    database = mongoTestDatabase(mongoUrl, 'announced');
    documents = await open();
  });
  afterEach(() => database.drop());

  const checksums = (...ids: readonly string[]) => ids.map(checksumOf);

  /** Returns the checksums that the work announces. */
  async function announcedBy(work: () => Promise<unknown>): Promise<readonly number[] | 'all'> {
    const { position } = await documents.changesSince(null);
    await work();
    return (await documents.changesSince(position)).checksums;
  }

  test('an update, an increment, a raise and a removal of a cached document, but no insert', async () => {
    expect(await announcedBy(() => documents.insert(things, newThing('a')))).toEqual([]);
    expect(await announcedBy(() => documents.update(things, { id: 'a', version: 1 }, { name: 'b' }))).toEqual(
      checksums('a'),
    );
    expect(await announcedBy(() => documents.increment(withoutLateFields, 'a', { rank: 1 }))).toEqual(checksums('a'));
    expect(await announcedBy(() => documents.raise(withoutLateFields, ['a', 'b'], { field: 'madeAt', to: 5 }))).toEqual(
      checksums('a', 'b'),
    );
    expect(await announcedBy(() => documents.remove(things, 'a'))).toEqual(checksums('a'));
  });

  test('no change of only late fields, and none of another collection', async () => {
    await documents.insert(things, newThing('a'));
    await documents.insert(others, newThing('a'));
    expect(
      await announcedBy(async () => {
        await documents.update(things, { id: 'a', version: 1 }, { rank: 2 });
        await documents.update(things, { id: 'a', version: 2 }, {});
        await documents.increment(things, 'a', { rank: 1 });
        await documents.raise(things, ['a'], { field: 'madeAt', to: 5 });
        await documents.commit([write.increment(things, 'a', { rank: 1 }), write.remove(others, 'a')]);
      }),
    ).toEqual([]);
    expect(await announcedBy(() => documents.update(things, { id: 'a', version: 3 }, { rank: 2, name: 'b' }))).toEqual(
      checksums('a'),
    );
  });

  test('all changes of a commit, each document once', async () => {
    for (const id of ['a', 'b', 'c', 'd']) await documents.insert(things, newThing(id));
    const announced = await announcedBy(() =>
      documents.commit([
        write.insert(things, newThing('new')),
        write.require(things, { id: 'd', version: 1 }),
        write.update(things, { id: 'a', version: 1 }, { name: 'first' }),
        write.update(things, { id: 'a', version: 2 }, { name: 'second' }),
        write.increment(withoutLateFields, 'b', { rank: 1 }),
        write.remove(things, 'c'),
      ]),
    );
    expect(announced).toEqual(checksums('a', 'b', 'c'));
  });

  test('a change that cannot be announced is not written', async () => {
    await documents.insert(things, newThing('a'));
    const { db } = await database.connect();
    await db!.createCollection('announced_changes', { validator: { never: true } });
    for (const change of [
      () => documents.update(things, { id: 'a', version: 1 }, { name: 'b' }),
      () => documents.increment(withoutLateFields, 'a', { rank: 1 }),
      () => documents.raise(withoutLateFields, ['a'], { field: 'madeAt', to: 5 }),
      () => documents.remove(things, 'a'),
      () => documents.commit([write.remove(things, 'a'), write.insert(things, newThing('b'))]),
    ])
      await expect(change()).rejects.toThrow('Document failed validation');
    expect(await documents.getMany(things, ['a', 'b'])).toEqual([{ ...newThing('a'), version: 1 }]);
  });

  test('concurrent changes of two processes are all announced, once each', async () => {
    const elsewhere = await open();
    const ids = Array.from({ length: 100 }, (_, index) => `thing ${index}`);
    for (const id of ids) await documents.insert(things, newThing(id));
    const announced: (number | string)[] = [];
    let { position } = await documents.changesSince(null);
    const read = async () => {
      const changes = await documents.changesSince(position);
      position = changes.position;
      announced.push(...changes.checksums);
    };
    let isDone = false;
    const reading = (async () => {
      while (!isDone) await read();
      await read();
    })();
    await Promise.all(
      ids.map((id, index) =>
        (index % 2 === 0 ? documents : elsewhere).update(things, { id, version: 1 }, { name: 'b' }),
      ),
    );
    isDone = true;
    await reading;
    expect(announced.sort()).toEqual(checksums(...ids).sort());
  });

  test('a change that takes too long is announced again', async () => {
    let now = 0;
    const announcements = new ChangeAnnouncements(await database.connect(), () => now);
    const { position } = await documents.changesSince(null);
    const change = { collection: things as unknown as AnyCollection, id: 'a', fields: null };
    const slowly = (ms: number, outcome: 'done' | 'failed') => async () => {
      now += ms;
      if (outcome === 'failed') throw new Error(outcome);
      return Promise.resolve(outcome);
    };
    expect(await announcements.announce([change], slowly(90_000, 'done'))).toBe('done');
    const before = await announcements.since(position);
    expect(before.checksums).toEqual(checksums('a'));
    expect(await announcements.announce([change], slowly(90_001, 'done'))).toBe('done');
    await expect(announcements.announce([change], slowly(90_001, 'failed'))).rejects.toThrow('failed');
    expect((await announcements.since(before.position)).checksums).toEqual(checksums('a', 'a', 'a', 'a'));
  });

  test('a reader that starts, or is too far behind, learns that all may have changed', async () => {
    await documents.remove(things, 'first');
    const { position } = await documents.changesSince(null);
    const raised = Array.from({ length: 256 }, (_, index) => `thing ${index}`);
    const raise = (ids: readonly string[]) => documents.raise(withoutLateFields, ids, { field: 'madeAt', to: 5 });
    await raise(raised.slice(1));
    const near = await documents.changesSince(position);
    expect(near.checksums).toEqual(checksums(...raised.slice(1)));
    expect(await documents.changesSince(near.position)).toEqual({ position: near.position, checksums: [] });
    await raise(raised.slice(0, 1));
    const far = await documents.changesSince(position);
    expect(far.checksums).toBe('all');
    expect(await documents.changesSince(near.position)).toEqual({
      position: far.position,
      checksums: checksums('thing 0'),
    });
    expect(await documents.changesSince(null)).toEqual({ position: far.position, checksums: 'all' });
  });

  test('a reader of announcements that were rolled back or removed learns that all may have changed', async () => {
    const { db } = await database.connect();
    const stored = db!.collection<{ _id: string }>('announced_changes');
    await documents.remove(things, 'first');
    const kept = await stored.findOne({ _id: 'documents' });
    await documents.remove(things, 'rolled back');
    const { position } = await documents.changesSince(null);
    await stored.replaceOne({ _id: 'documents' }, kept!);
    expect((await documents.changesSince(position)).checksums).toBe('all');
    await documents.remove(things, 'instead');
    expect((await documents.changesSince(position)).checksums).toBe('all');
    const after = await documents.changesSince(null);
    await stored.deleteOne({ _id: 'documents' });
    expect((await documents.changesSince(after.position)).checksums).toBe('all');
  });
});
