import { trusted, type ClientSession } from 'mongoose';
import {
  checkAtMost,
  checkChanges,
  checkId,
  checkIncrements,
  checkNew,
  checkRaise,
  checkSum,
  checkVersion,
  documentLimits,
} from '../../../../ports/document-checks.ts';
import { StaleVersion, UniqueKeyViolation, type Document, type Write } from '../../../../ports/documents.ts';
import { duplicateKey } from '../mongo-connection.ts';
import { keyOfIndex, type DocumentModel } from './mongo-document-models.ts';
import { decodeDocument, encodeValues, type Stored } from './mongo-document-values.ts';

/*
 * The document writes. Each function checks its input immediately and returns the work to run, within or without a
 * transaction. Filters contain only checked values and our own operators.
 */

export type Work<T = unknown> = (session?: ClientSession) => Promise<T>;

/**
 * The field that `require` increments, because only writes conflict between transactions. It is not part of the
 * document.
 */
const requiredField = '_required';

export function insertWork({ collection, model }: DocumentModel, documents: readonly object[]): Work<Document[]> {
  const stored = documents.map((document): Stored => {
    const { id, values } = checkNew(collection, document);
    return { _id: id, version: 1, ...encodeValues(collection, values) };
  });
  return async (session) => {
    await namingKeys(collection.name, model.collection.insertMany(stored as never[], sessionOf(session)));
    return stored.map((one) => decodeDocument(collection, one));
  };
}

function accumulateWork({ collection, model }: DocumentModel, document: object, sum: string | null): Work<void> {
  const { id, values } = checkNew(collection, document);
  if (sum !== null) checkSum(collection, sum, values.get(sum));
  const added = sum === null ? {} : { [sum]: values.get(sum) as number };
  const { [sum ?? '']: _, ...others } = encodeValues(collection, values);
  const change = { $setOnInsert: { version: 1, ...others }, ...(sum === null ? {} : { $inc: added }) };
  return async (session) => {
    await namingKeys(
      collection.name,
      model.collection.updateOne({ _id: id as never }, change, { upsert: true, ...sessionOf(session) }),
    );
  };
}

export function updateWork(
  { collection, model }: DocumentModel,
  at: { id: string; version: number },
  set: object,
): Work<Document> {
  checkId(collection, at.id);
  checkVersion(collection, at.version);
  const change = { $set: encodeValues(collection, checkChanges(collection, set)), $inc: { version: 1 } };
  return async (session) => {
    const updating = model
      .findOneAndUpdate({ _id: at.id, version: at.version }, change, { returnDocument: 'after', ...sessionOf(session) })
      .lean();
    const updated = await namingKeys(collection.name, updating.exec());
    if (updated === null) throw new StaleVersion(collection.name, at.id);
    return decodeDocument(collection, updated as Stored);
  };
}

export function incrementWork({ collection, model }: DocumentModel, id: string, by: object): Work<void> {
  checkId(collection, id);
  const added = checkIncrements(collection, by);
  // Uses a pipeline, because `$inc` rejects null.
  const sums = Object.fromEntries(
    [...added].map(([field, value]) => [field, { $add: [{ $ifNull: [`$${field}`, 0] }, value] }]),
  );
  return async (session) => {
    if (added.size === 0) return;
    await namingKeys(
      collection.name,
      model.updateOne({ _id: id }, [{ $set: sums }], { updatePipeline: true, ...sessionOf(session) }).exec(),
    );
  };
}

export function raiseWork(
  { collection, model }: DocumentModel,
  { ids, field, to }: { ids: readonly string[]; field: string; to: number },
): Work<void> {
  checkAtMost(ids.length, documentLimits.ids, 'ids');
  checkRaise(collection, { field, to });
  // Matches lower values and null.
  const filter = { _id: trusted({ $in: [...ids] }), [field]: trusted({ $not: { $gte: to } }) };
  return async (session) => {
    await model.updateMany(filter, { $set: { [field]: to } }, sessionOf(session)).exec();
  };
}

/** Resolves with whether the document existed. With a version, throws if it did not exist with that version. */
export function removeWork({ collection, model }: DocumentModel, id: string, version?: number): Work<boolean> {
  checkId(collection, id);
  if (version !== undefined) checkVersion(collection, version);
  return async (session) => {
    const { deletedCount } = await model
      .deleteOne({ _id: id, ...(version === undefined ? {} : { version }) }, sessionOf(session))
      .exec();
    if (deletedCount === 0 && version !== undefined) throw new StaleVersion(collection.name, id);
    return deletedCount === 1;
  };
}

function requireWork({ collection, model }: DocumentModel, id: string, version: number): Work<void> {
  checkId(collection, id);
  checkVersion(collection, version);
  return async (session) => {
    const { matchedCount } = await model.collection.updateOne(
      { _id: id as never, version },
      { $inc: { [requiredField]: 1 } },
      sessionOf(session),
    );
    if (matchedCount === 0) throw new StaleVersion(collection.name, id);
  };
}

/** Removes several documents in one command. With versions, throws if one of them does not exist with its version. */
function removeAllWork({ collection, model }: DocumentModel, removals: readonly Removal[]): Work<void> {
  for (const { id, version } of removals) {
    checkId(collection, id);
    if (version !== undefined) checkVersion(collection, version);
  }
  const filters = removals.map(({ id, version }) => ({
    _id: id as never,
    ...(version === undefined ? {} : { version }),
  }));
  return async (session) => {
    const { deletedCount } = await model.collection.bulkWrite(
      filters.map((filter) => ({ deleteOne: { filter } })),
      sessionOf(session),
    );
    const isConditional = removals[0]!.version !== undefined;
    if (isConditional && deletedCount < removals.length)
      throw new StaleVersion(collection.name, await findStale(model, removals));
  };
}

/**
 * Returns the ID of the first document that is missing or has another version. Reads outside of the transaction, which
 * has already removed some documents.
 */
async function findStale(model: DocumentModel['model'], removals: readonly Removal[]): Promise<string> {
  const ids = removals.map(({ id }) => id) as never[];
  const present = await model.collection.find({ _id: { $in: ids } }, { projection: { version: 1 } }).toArray();
  const versions = new Map(present.map(({ _id, version }) => [String(_id), version as number]));
  return (removals.find(({ id, version }) => versions.get(id) !== version) ?? removals[0]!).id;
}

type Insertion = Extract<Write, { kind: 'insert' }>;
type Removal = Extract<Write, { kind: 'remove' }>;

/** Returns the work of a commit, in order; consecutive inserts or removals of a collection are one command. */
export function planCommit(
  modelOf: (collection: { readonly name: string }) => DocumentModel,
  writes: readonly Write[],
): Work[] {
  const steps: Work[] = [];
  for (let at = 0; at < writes.length;) {
    const first = writes[at]!;
    const group = [first];
    while (isOneCommand(first, writes[at + group.length])) group.push(writes[at + group.length]!);
    steps.push(workOf(modelOf(first.collection), group));
    at += group.length;
  }
  return steps;
}

function isOneCommand(first: Write, next: Write | undefined): boolean {
  if (next === undefined || next.collection.name !== first.collection.name) return false;
  if (first.kind === 'remove' && next.kind === 'remove')
    return (first.version === undefined) === (next.version === undefined);
  return first.kind === 'insert' && next.kind === 'insert';
}

function workOf(model: DocumentModel, writes: readonly Write[]): Work {
  const write = writes[0]!;
  switch (write.kind) {
    case 'insert':
      return insertWork(
        model,
        writes.map((one) => (one as Insertion).document),
      );
    case 'accumulate':
      return accumulateWork(model, write.document, write.sum);
    case 'update':
      return updateWork(model, write, write.set);
    case 'increment':
      return incrementWork(model, write.id, write.by);
    case 'remove':
      return writes.length === 1
        ? removeWork(model, write.id, write.version)
        : removeAllWork(model, writes as readonly Removal[]);
    case 'require':
      return requireWork(model, write.id, write.version);
  }
}

const sessionOf = (session: ClientSession | undefined) => (session === undefined ? {} : { session });

/** Returns the unique key that a rejected write violates. */
async function namingKeys<T>(collection: string, writing: Promise<T>): Promise<T> {
  try {
    return await writing;
  } catch (error) {
    const { code, message } = error as { code?: unknown; message?: unknown };
    if (code !== duplicateKey) throw error;
    // The index name precedes all user input.
    const index = /^[^"]*? index: (\S+) dup key/.exec(String(message))?.[1];
    const key = index === undefined ? null : keyOfIndex(index);
    if (key === null) throw error;
    throw new UniqueKeyViolation(collection, key);
  }
}
