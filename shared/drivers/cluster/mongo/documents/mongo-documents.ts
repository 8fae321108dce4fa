import { trusted, type Connection } from 'mongoose';
import type { Logger } from '../../../../platform/logger.ts';
import {
  checkAtMost,
  checkId,
  documentLimits,
  kindOf,
  planQuery,
  type AnyCollection,
  type Plan,
} from '../../../../ports/document-checks.ts';
import type { Documents, Write } from '../../../../ports/documents.ts';
import type { StorageFeatures } from '../../../../ports/engine.ts';
import { KeyedMutex } from '../../../../async/keyed-mutex.ts';
import { mapUnavailable } from '../mongo-connection.ts';
import { ChangeAnnouncements, changeOf, type DocumentChange } from './announced-changes.ts';
import { throughElection } from '../mongo-election.ts';
import { documentModel, indexName, lowestOf, prepareCollection, type DocumentModel } from './mongo-document-models.ts';
import { decodeDocument, decodeFields, fieldName, type Stored } from './mongo-document-values.ts';
import { incrementWork, raiseWork, insertWork, removeWork, updateWork, planCommit } from './mongo-document-writes.ts';
import { inTransaction } from '../mongo-transaction.ts';

export interface MongoDocumentsOptions {
  readonly connection: Connection;
  readonly collections: readonly AnyCollection[];
  readonly log: Logger;
}

/** The documents with the announcements of their changes. */
export type MongoDocuments = Documents & Pick<Required<StorageFeatures>, 'changesSince'>;

/**
 * The documents of a cluster: one MongoDB collection per declared collection. Creates collections and indexes when
 * opened, see `prepareCollection`. Only the given collections can be used. `close` leaves the connection open.
 *
 * Writes are acknowledged by the majority, and reads use the primary, so every node reads all acknowledged writes of
 * every node, even from a new primary. Changes that caches must not miss are announced before they are written.
 */
export async function openMongoDocuments({
  connection,
  collections,
  log,
}: MongoDocumentsOptions): Promise<MongoDocuments> {
  const byName = new Map(collections.map((collection) => [collection.name, collection]));
  if (byName.size < collections.length) throw new TypeError('two collections have the same name');
  await prepareAll(connection, { collections, log });
  const models = new Map<string, DocumentModel>();
  // A model is made at its first use, because most processes, above all commands, use few of them.
  const modelOf = ({ name }: { readonly name: string }): DocumentModel => {
    const made = models.get(name);
    if (made !== undefined) return made;
    const collection = byName.get(name);
    if (collection === undefined) throw new TypeError(`the collection ${name} was not opened`);
    const model = documentModel(connection, collection);
    models.set(name, model);
    return model;
  };
  // MongoDB treats two commits that require the same document as a conflict. Many at a time would repeat until their
  // deadline.
  const requiring = new KeyedMutex();
  const announcements = new ChangeAnnouncements(connection);
  const writeAnnounced = <T>(changes: readonly DocumentChange[], work: () => Promise<unknown>): Promise<T> =>
    mapUnavailableAs(() => announcements.announce(changes, work));
  return {
    ...readsOver(modelOf),
    insert: (collection, document) =>
      mapUnavailableAs(async () => (await insertWork(modelOf(collection), [document])())[0]),
    update: async (collection, at, set) => {
      const work = updateWork(modelOf(collection), at, set);
      return writeAnnounced([{ collection, id: at.id, fields: Object.keys(set) }], work);
    },
    increment: async (collection, id, by) => {
      const work = incrementWork(modelOf(collection), id, by);
      return writeAnnounced([{ collection, id, fields: Object.keys(by) }], work);
    },
    raise: async (collection, ids, raised) => {
      const work = raiseWork(modelOf(collection), { ids, ...raised });
      const changes = ids.map((id) => ({ collection, id, fields: [raised.field] }));
      return writeAnnounced(changes, work);
    },
    remove: async (collection, id) => {
      const work = removeWork(modelOf(collection), id);
      return writeAnnounced([{ collection, id, fields: null }], work);
    },
    commit: async (writes) => {
      checkAtMost(writes.length, documentLimits.writes, 'writes');
      const steps = planCommit(modelOf, writes);
      if (steps.length === 0) return;
      const changes = writes.flatMap((one) => changeOf(one) ?? []);
      await requiring.runForAll(requiredDocuments(writes), () =>
        writeAnnounced(changes, () =>
          inTransaction(connection, async (session) => {
            for (const work of steps) await work(session);
          }),
        ),
      );
    },
    ping: () => mapUnavailableAs(() => connection.db!.command({ ping: 1 })),
    close: async () => undefined,
    changesSince: (position) => announcements.since(position),
  };
}

const requiredDocuments = (writes: readonly Write[]): string[] =>
  writes.flatMap((one) => (one.kind === 'require' ? [`${one.collection.name} ${one.id}`] : []));

/** Collections to create concurrently: the server creates four in almost the time of one. */
const concurrentPreparations = 4;

async function prepareAll(
  connection: Connection,
  { collections, log }: Pick<MongoDocumentsOptions, 'collections' | 'log'>,
): Promise<void> {
  for (let from = 0; from < collections.length; from += concurrentPreparations) {
    const prepared = await Promise.allSettled(
      collections.slice(from, from + concurrentPreparations).map(async (collection) => {
        await mapUnavailableAs(() => prepareCollection(connection, collection)).catch((error: unknown) => {
          log.error({ collection: collection.name, err: error }, 'the collection could not be created as declared');
          throw error;
        });
      }),
    );
    const failed = prepared.find((one) => one.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  }
}

/** Casts to the caller's document type. */
async function mapUnavailableAs<T>(work: () => Promise<unknown>): Promise<T> {
  return (await mapUnavailable(work)) as T;
}

/** Waits for the election of a primary, so that a failover delays requests instead of failing them. */
function readAs<T>(read: () => Promise<unknown>): Promise<T> {
  return mapUnavailableAs(() => throughElection(read));
}

function readsOver(
  modelOf: (collection: { readonly name: string }) => DocumentModel,
): Pick<Documents, 'get' | 'getMany' | 'pick' | 'find' | 'count'> {
  return {
    get: (name, id) =>
      readAs(async () => {
        const { collection, model } = modelOf(name);
        checkId(collection, id);
        const stored = await model.findOne({ _id: id }).lean().exec();
        return stored === null ? null : decodeDocument(collection, stored as Stored);
      }),
    getMany: (name, ids) =>
      readAs(async () => {
        const { collection, model } = modelOf(name);
        checkAtMost(ids.length, documentLimits.ids, 'ids');
        for (const id of ids) checkId(collection, id);
        const found = await model
          .find({ _id: trusted({ $in: [...ids] }) })
          .lean()
          .exec();
        return found.map((stored) => decodeDocument(collection, stored as Stored));
      }),
    pick: (name, ids, fields) =>
      readAs(async () => {
        const { collection, model } = modelOf(name);
        checkAtMost(ids.length, documentLimits.ids, 'ids');
        for (const id of ids) checkId(collection, id);
        for (const field of fields) kindOf(collection, field);
        const projection = Object.fromEntries(fields.map((field) => [fieldName(field), 1]));
        // Bypasses the mongoose query, which would take longer than the server.
        const found = await model.collection
          .find({ _id: { $in: [...ids] as never[] } }, { projection: { _id: 1, ...projection } })
          .toArray();
        return found.map((stored) => decodeFields(collection, fields, stored as unknown as Stored));
      }),
    find: (name, query) =>
      readAs(async () => {
        const { collection, model } = modelOf(name);
        const plan = planQuery(collection, query);
        if (plan.limit === 0) return []; // MongoDB treats 0 as no limit
        const found = await model
          .find(filterOf(collection, plan))
          .sort(orderOf(plan))
          .skip(plan.offset)
          .limit(plan.limit)
          .hint(indexName(collection, plan.index))
          .lean()
          .exec();
        return found.map((stored) => decodeDocument(collection, stored as Stored));
      }),
    count: (name, query) =>
      readAs(async () => {
        const { collection, model } = modelOf(name);
        const plan = planQuery(collection, query);
        return await model.countDocuments(filterOf(collection, plan)).hint(indexName(collection, plan.index)).exec();
      }),
  };
}

/** MongoDB compares values of the same type only, so bounds exclude nulls. */
function filterOf(collection: AnyCollection, plan: Plan): object {
  const conditions = plan.equals.map(([field, value]): [string, unknown] => [fieldName(field), value]);
  plan.rest.forEach((field, place) => {
    const low = (place === 0 ? plan.from : undefined) ?? (plan.isUniqueKey ? lowestOf(collection, field) : undefined);
    const high = place === 0 ? plan.to : undefined;
    const bounds = { ...(low === undefined ? {} : { $gte: low }), ...(high === undefined ? {} : { $lte: high }) };
    if (Object.keys(bounds).length > 0) conditions.push([fieldName(field), trusted(bounds)]);
  });
  return Object.fromEntries(conditions);
}

/** Values of a unique key determine the order; its index does not include the ID. */
function orderOf(plan: Plan): { [field: string]: 1 | -1 } {
  const fields = plan.isUniqueKey ? plan.rest : [...new Set([...plan.rest, 'id'])];
  return Object.fromEntries(fields.map((field) => [fieldName(field), plan.isDescending ? -1 : 1]));
}
