import { inspect } from 'node:util';
import { Schema, type Connection, type Model } from 'mongoose';
import { checkCollection, kindOf, type AnyCollection } from '../../../../ports/document-checks.ts';
import type { FieldKind } from '../../../../ports/documents.ts';
import { ignoring, indexNotFound } from '../mongo-connection.ts';
import { fieldName, type Stored } from './mongo-document-values.ts';

/** The model of a collection. Documents are never hydrated. */
export interface DocumentModel {
  readonly collection: AnyCollection;
  readonly model: Model<Stored>;
}

const schemaTypes: { readonly [K in FieldKind]: unknown } = {
  text: String,
  integer: Number,
  real: Number,
  boolean: Boolean,
  time: Number,
  json: Schema.Types.Mixed,
};

/**
 * Matches all values of the field's type except null. As the filter of a unique index, it has a form that MongoDB
 * recognizes as implied by a query.
 */
const lowest: { readonly [K in FieldKind]?: unknown } = {
  text: '',
  integer: -Infinity,
  time: -Infinity,
  boolean: false,
};
export const lowestOf = (collection: AnyCollection, field: string): unknown => lowest[kindOf(collection, field)];

const prefixes = { key: 'key_', index: 'index_' } as const;

/** Returns the name of an index or unique key in MongoDB. */
export function indexName(collection: AnyCollection, name: string): string {
  if (Object.hasOwn(collection.uniqueKeys, name)) return prefixes.key + name;
  return collection.indexes[name]?.[0] === 'id' ? '_id_' : prefixes.index + name;
}

/** Returns the unique key of a MongoDB index, or null. */
export function keyOfIndex(name: string): string | null {
  if (name === '_id_') return 'id';
  return name.startsWith(prefixes.key) ? name.slice(prefixes.key.length) : null;
}

export function documentModel(connection: Connection, collection: AnyCollection): DocumentModel {
  const fields = Object.entries(collection.fields).map(([field, kind]) => [field, { type: schemaTypes[kind] }]);
  const definition = Object.fromEntries([
    ['_id', { type: String }],
    ['version', { type: Number }],
    ...fields,
  ]) as Record<string, { type: unknown }>;
  const schema = new Schema(definition as never, {
    collection: collection.name,
    versionKey: false,
    id: false,
    minimize: false,
    strict: 'throw',
    suppressReservedKeysWarning: true,
    autoIndex: false,
    autoCreate: false,
  });
  const model = connection.model(collection.name, schema, collection.name, {
    overwriteModels: true,
  }) as unknown as Model<Stored>;
  return { collection, model };
}

interface IndexSpec {
  readonly name: string;
  readonly key: { readonly [field: string]: 1 };
  readonly unique?: true;
  readonly partialFilterExpression?: { readonly [field: string]: unknown };
}

function indexSpecs(collection: AnyCollection): IndexSpec[] {
  const keyOf = (fields: readonly string[]) =>
    Object.fromEntries(fields.map((field) => [fieldName(field), 1 as const]));
  const keys = Object.entries(collection.uniqueKeys).map(([name, fields]): IndexSpec => ({
    name: indexName(collection, name),
    key: keyOf(fields),
    unique: true,
    partialFilterExpression: Object.fromEntries(
      fields.map((field) => [fieldName(field), { $gte: lowestOf(collection, field) }]),
    ),
  }));
  const indexes = Object.entries(collection.indexes).map(([name, fields]): IndexSpec => ({
    name: indexName(collection, name),
    // The ID is the last sort key.
    key: keyOf([...fields, 'id']),
  }));
  return [...keys, ...indexes].filter(({ name }) => name !== '_id_');
}

/**
 * Migrates collection and indexes to their declaration: creates missing ones, replaces changed ones and drops retired
 * ones. Keeps others, because nodes of a newer version may use them. Safe to run concurrently. Throws if existing
 * documents violate a new unique key, and a TypeError for an invalid declaration.
 */
export async function prepareCollection(connection: Connection, collection: AnyCollection): Promise<void> {
  checkCollection(collection);
  const native = connection.db!.collection(collection.name);
  const declared = new Map(indexSpecs(collection).map((spec) => [spec.name, spec]));
  const retired = new Set(
    (collection.retired ?? []).flatMap((name) => Object.values(prefixes).map((prefix) => prefix + name)),
  );
  for (const present of (await native.listIndexes().toArray().catch(emptyIfMissing)) as IndexSpec[]) {
    const same = declared.get(present.name);
    if (same !== undefined && isSame(same, present)) declared.delete(present.name);
    else if (same !== undefined || retired.has(present.name))
      await native.dropIndex(present.name).catch(ignoring(indexNotFound));
  }
  // Creating indexes also creates the collection: one catalog change instead of two.
  if (declared.size > 0) await native.createIndexes([...declared.values()] as never);
  else if (indexSpecs(collection).length === 0)
    await connection.createCollection(collection.name).catch(ignoring(codes.namespaceExists));
}

const codes = { namespaceNotFound: 26, namespaceExists: 48 } as const;

function emptyIfMissing(error: unknown): IndexSpec[] {
  if ((error as { code?: unknown }).code !== codes.namespaceNotFound) throw error;
  return [];
}

function isSame(a: IndexSpec, b: IndexSpec): boolean {
  const form = ({ key, unique, partialFilterExpression }: IndexSpec) =>
    JSON.stringify([Object.entries(key), unique === true, describe(partialFilterExpression)]);
  return form(a) === form(b);
}

/** Serializes a filter for comparison. Not as JSON, which cannot represent -Infinity. */
const describe = (filter: IndexSpec['partialFilterExpression']) =>
  Object.entries(filter ?? {}).map(([field, condition]) => `${field} ${inspect(condition)}`);
