import { kindOf, type AnyCollection } from '../../../../ports/document-checks.ts';
import type { Document } from '../../../../ports/documents.ts';

/** A stored document: `_id`, `version` and the declared fields. */
export type Stored = { readonly _id: string; readonly [field: string]: unknown };

/** Returns the MongoDB field of a collection's field. */
export const fieldName = (field: string): string => (field === 'id' ? '_id' : field);

/** Values to store, by field name. */
export function encodeValues(
  collection: AnyCollection,
  values: ReadonlyMap<string, unknown>,
): { [field: string]: unknown } {
  const stored: { [field: string]: unknown } = {};
  for (const [field, value] of values) stored[field] = collection.fields[field] === 'json' ? encodeJson(value) : value;
  return stored;
}

export function decodeDocument(collection: AnyCollection, stored: Stored): Document {
  const document: { [field: string]: unknown } = { id: stored._id, version: stored.version };
  for (const [field, kind] of Object.entries(collection.fields)) {
    const value = stored[field] ?? null;
    document[field] = kind === 'json' ? decodeJson(value) : value;
  }
  return document as unknown as Document;
}

/** Returns the ID and these fields of a projected document. */
export function decodeFields(collection: AnyCollection, fields: readonly string[], stored: Stored): object {
  const picked: { [field: string]: unknown } = { id: stored._id };
  for (const field of fields) {
    const value = stored[fieldName(field)] ?? null;
    picked[field] = kindOf(collection, field) === 'json' ? decodeJson(value) : value;
  }
  return picked;
}

/**
 * JSON is stored natively, so that queries and people can read it, except values that MongoDB, BSON or mongoose would
 * interpret, reject or change. These are stored as text: `{ jsonText: "…" }`.
 */
function encodeJson(value: unknown): unknown {
  if (isPlain(value, 0)) return value;
  return { [textKey]: JSON.stringify(value) };
}

function decodeJson(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const text = (value as { [textKey]?: unknown })[textKey];
  return typeof text === 'string' ? (JSON.parse(text) as unknown) : value;
}

const textKey = 'jsonText';
/** BSON's nesting limit is 100 levels. */
const depthMax = 30;
const plainKey = /^[A-Za-z][A-Za-z0-9_-]*$/;
/** Property names with a special meaning in libraries. */
const meaningful: ReadonlySet<string> = new Set([
  textKey,
  'constructor',
  'prototype',
  'toJSON',
  'toBSON',
  'toObject',
  'valueOf',
  'toString',
  'hasOwnProperty',
]);

function isPlain(value: unknown, depth: number): boolean {
  if (typeof value === 'string') return value.isWellFormed();
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return true;
  if (typeof value !== 'object' || depth === depthMax) return false;
  if (Array.isArray(value)) return value.every((item) => isPlain(item, depth + 1));
  return Object.entries(value).every(
    ([key, item]) => plainKey.test(key) && !meaningful.has(key) && isPlain(item, depth + 1),
  );
}
