import type { ClientSession } from 'mongoose';
import { checkChanges, checkId, checkIncrements, checkNew, checkVersion } from '../../ports/document-checks.ts';
import { StaleVersion, UniqueKeyViolation, type Document, type Write } from '../../ports/documents.ts';
import { keyOfIndex, type DocumentModel } from './mongo-document-models.ts';
import { decodeDocument, encodeValues, type Stored } from './mongo-document-values.ts';

/*
 * The writes of the documents. Each function checks its input at once and gives back what is to be run, in a
 * transaction's session or alone. Filters are made of checked values and operators of our own only.
 */

export type Work<T = unknown> = (session?: ClientSession) => Promise<T>;

/** Field of requirements: grows with each, since only a write makes two transactions meet. No part of the document. */
const requiredField = '_required';

const codes = { duplicateKey: 11_000 } as const;

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

export function updateWork({ collection, model }: DocumentModel, at: { id: string; version: number }, set: object): Work<Document> {
  checkId(collection, at.id);
  checkVersion(collection, at.version);
  const change = { $set: encodeValues(collection, checkChanges(collection, set)), $inc: { version: 1 } };
  return async (session) => {
    const updating = model.findOneAndUpdate({ _id: at.id, version: at.version }, change, { returnDocument: 'after', ...sessionOf(session) }).lean();
    const updated = await namingKeys(collection.name, updating.exec());
    if (updated === null) throw new StaleVersion(collection.name, at.id);
    return decodeDocument(collection, updated as Stored);
  };
}

export function incrementWork({ collection, model }: DocumentModel, id: string, by: object): Work<void> {
  checkId(collection, id);
  const added = checkIncrements(collection, by);
  // A pipeline, since `$inc` refuses a null.
  const sums = Object.fromEntries([...added].map(([field, value]) => [field, { $add: [{ $ifNull: [`$${field}`, 0] }, value] }]));
  return async (session) => {
    if (added.size === 0) return;
    await namingKeys(collection.name, model.updateOne({ _id: id }, [{ $set: sums }], { updatePipeline: true, ...sessionOf(session) }).exec());
  };
}

/** Resolves with whether the document was there; with a version, it throws when it was not there with that one. */
export function removeWork({ collection, model }: DocumentModel, id: string, version?: number): Work<boolean> {
  checkId(collection, id);
  if (version !== undefined) checkVersion(collection, version);
  return async (session) => {
    const { deletedCount } = await model.deleteOne({ _id: id, ...(version === undefined ? {} : { version }) }, sessionOf(session)).exec();
    if (deletedCount === 0 && version !== undefined) throw new StaleVersion(collection.name, id);
    return deletedCount === 1;
  };
}

function requireWork({ collection, model }: DocumentModel, id: string, version: number): Work<void> {
  checkId(collection, id);
  checkVersion(collection, version);
  return async (session) => {
    const { matchedCount } = await model.collection.updateOne({ _id: id as never, version }, { $inc: { [requiredField]: 1 } }, sessionOf(session));
    if (matchedCount === 0) throw new StaleVersion(collection.name, id);
  };
}

/** The work of a commit, in order; inserts of a collection that follow each other are one command. */
export function worksOf(modelOf: (collection: { readonly name: string }) => DocumentModel, writes: readonly Write[]): Work[] {
  const works: Work[] = [];
  for (let at = 0; at < writes.length;) {
    const first = writes[at]!;
    const inserts = [first];
    while (first.kind === 'insert' && isInsertInto(first.collection.name, writes[at + inserts.length])) inserts.push(writes[at + inserts.length]!);
    works.push(first.kind === 'insert'
      ? insertWork(modelOf(first.collection), inserts.map((one) => (one as typeof first).document))
      : workOf(modelOf(first.collection), first));
    at += inserts.length;
  }
  return works;
}

const isInsertInto = (name: string, write: Write | undefined) => write?.kind === 'insert' && write.collection.name === name;

function workOf(model: DocumentModel, write: Exclude<Write, { kind: 'insert' }>): Work {
  switch (write.kind) {
    case 'update':
      return updateWork(model, write, write.set);
    case 'increment':
      return incrementWork(model, write.id, write.by);
    case 'remove':
      return removeWork(model, write.id, write.version);
    case 'require':
      return requireWork(model, write.id, write.version);
  }
}

const sessionOf = (session: ClientSession | undefined) => (session === undefined ? {} : { session });

/** Says which unique key MongoDB refused a write for. */
async function namingKeys<T>(collection: string, writing: Promise<T>): Promise<T> {
  try {
    return await writing;
  } catch (error) {
    const { code, message } = error as { code?: unknown; message?: unknown };
    if (code !== codes.duplicateKey) throw error;
    // The index's name comes before anything that a user could have written.
    const index = /^[^"]*? index: (\S+) dup key/.exec(String(message))?.[1];
    const key = index === undefined ? null : keyOfIndex(index);
    if (key === null) throw error;
    throw new UniqueKeyViolation(collection, key);
  }
}
