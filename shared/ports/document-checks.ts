import type { FieldKind } from './documents.ts';

/**
 * What every driver of the documents port refuses, said once: undeclared collections, fields and indexes, and values
 * that are not of the declared kind. These are mistakes of the program, so they are TypeErrors and RangeErrors; that
 * a value is what its kind says is also what keeps `{"$ne": null}` from ever becoming part of a query.
 */

/** A collection whose document type is not known here; any `Collection<T>` is one. */
export interface AnyCollection {
  readonly name: string;
  readonly fields: { readonly [field: string]: FieldKind };
  readonly uniqueKeys: { readonly [name: string]: readonly string[] };
  readonly indexes: { readonly [name: string]: readonly string[] };
  readonly isAppendOnly?: boolean;
}

export const documentLimits = { ids: 1_000, writes: 1_000, found: 10_000 } as const;

/** Identifiers become names of tables, columns and indexes. */
const identifier = /^[a-z][A-Za-z0-9]{0,39}$/;
const indexable: ReadonlySet<FieldKind> = new Set(['text', 'integer', 'boolean', 'time']);

/** The kind of a field, `id` and `version` included. Throws for an undeclared one. */
export function kindOf(collection: AnyCollection, field: string): FieldKind {
  if (field === 'id') return 'text';
  if (field === 'version') return 'integer';
  const kind = Object.hasOwn(collection.fields, field) ? collection.fields[field] : undefined;
  if (kind === undefined) throw new TypeError(`${collection.name}: no field ${field} is declared`);
  return kind;
}

/** Throws when the declaration cannot be made into a table: bad names, keys over unknown or unordered fields. */
export function checkCollection(collection: AnyCollection): void {
  const names = [
    collection.name,
    ...Object.keys(collection.fields),
    ...Object.keys(collection.uniqueKeys),
    ...Object.keys(collection.indexes),
  ];
  for (const name of names) {
    if (!identifier.test(name))
      throw new TypeError(`${collection.name}: ${name} is no camelCase name of at most 40 characters`);
  }
  for (const field of ['id', 'version']) {
    if (Object.hasOwn(collection.fields, field))
      throw new TypeError(`${collection.name}: ${field} is always there, it is not declared`);
  }
  for (const [name, fields] of [...Object.entries(collection.uniqueKeys), ...Object.entries(collection.indexes)]) {
    if (fields.length === 0) throw new TypeError(`${collection.name}: ${name} has no fields`);
    if (new Set(fields).size < fields.length) throw new TypeError(`${collection.name}: ${name} has a field twice`);
    for (const field of fields) {
      if (!indexable.has(kindOf(collection, field)))
        throw new TypeError(`${collection.name}: ${name} cannot be over ${field}, which has no order`);
    }
  }
  for (const lists of [collection.uniqueKeys, collection.indexes]) {
    const forms = Object.values(lists).map((fields) => fields.join(' '));
    if (new Set(forms).size < forms.length)
      throw new TypeError(`${collection.name}: two of its indexes are over the same fields`);
  }
  for (const name of Object.keys(collection.uniqueKeys)) {
    if (Object.hasOwn(collection.indexes, name))
      throw new TypeError(`${collection.name}: ${name} is a key and an index`);
  }
}

function isOfKind(kind: FieldKind, value: unknown): boolean {
  switch (kind) {
    case 'text':
      return typeof value === 'string';
    case 'integer':
    case 'time':
      return Number.isSafeInteger(value);
    case 'real':
      return Number.isFinite(value);
    case 'boolean':
      return typeof value === 'boolean';
    case 'json':
      return value !== undefined;
  }
}

/** Throws unless the value is of the field's kind, or null. */
function checkValue(collection: AnyCollection, field: string, value: unknown): void {
  const kind = kindOf(collection, field);
  if (value !== null && !isOfKind(kind, value)) {
    throw new TypeError(`${collection.name}: ${field} must be of kind ${kind}, not ${typeof value}`);
  }
}

export function checkId(collection: AnyCollection, id: unknown): asserts id is string {
  if (typeof id !== 'string') throw new TypeError(`${collection.name}: an id is a text, not ${typeof id}`);
}

export function checkVersion(collection: AnyCollection, version: unknown): asserts version is number {
  if (!Number.isSafeInteger(version)) throw new TypeError(`${collection.name}: a version is an integer`);
}

/** The values of a new document, one for each declared field: what is not given is null. */
export function checkNew(collection: AnyCollection, document: object): { id: string; values: Map<string, unknown> } {
  const given = document as { readonly [field: string]: unknown };
  checkId(collection, given.id);
  for (const field of Object.keys(given)) {
    if (field !== 'id' && field !== 'version') kindOf(collection, field);
  }
  const values = new Map<string, unknown>();
  for (const field of Object.keys(collection.fields)) {
    const value = Object.hasOwn(given, field) ? (given[field] ?? null) : null;
    checkValue(collection, field, value);
    values.set(field, value);
  }
  return { id: given.id, values };
}

/** The values to set, in order of the declaration; undefined counts as not given. */
export function checkChanges(collection: AnyCollection, set: object): Map<string, unknown> {
  return checkGiven(collection, set, (field, value) => checkValue(collection, field, value));
}

/** What to add to which fields, in order of the declaration. */
export function checkIncrements(collection: AnyCollection, by: object): Map<string, number> {
  const checked = checkGiven(collection, by, (field, value) => {
    if (kindOf(collection, field) !== 'integer')
      throw new TypeError(`${collection.name}: ${field} is no integer to add to`);
    if (!Number.isSafeInteger(value))
      throw new TypeError(`${collection.name}: only an integer can be added to ${field}`);
  });
  return checked as Map<string, number>;
}

export function checkRaise(collection: AnyCollection, { field, to }: { field: string; to: number }): void {
  checkChangeable(collection);
  if (field === 'version' || !['time', 'integer'].includes(kindOf(collection, field)))
    throw new TypeError(`${collection.name}: ${field} is no time or integer to raise`);
  if (Object.values(collection.uniqueKeys).some((fields) => fields.includes(field)))
    throw new TypeError(`${collection.name}: ${field} is part of a unique key`);
  if (!Number.isSafeInteger(to)) throw new TypeError(`${collection.name}: ${field} can only be raised to an integer`);
}

function checkChangeable(collection: AnyCollection): void {
  if (collection.isAppendOnly === true) throw new TypeError(`${collection.name}: what is there is not changed`);
}

function checkGiven(
  collection: AnyCollection,
  given: object,
  check: (field: string, value: unknown) => void,
): Map<string, unknown> {
  checkChangeable(collection);
  const values = given as { readonly [field: string]: unknown };
  for (const field of Object.keys(values)) {
    if (!Object.hasOwn(collection.fields, field)) throw new TypeError(`${collection.name}: ${field} cannot be set`);
  }
  const checked = new Map<string, unknown>();
  for (const field of Object.keys(collection.fields)) {
    const value = Object.hasOwn(values, field) ? values[field] : undefined;
    if (value === undefined) continue;
    check(field, value);
    checked.set(field, value);
  }
  return checked;
}

/** A query, resolved against its index. */
export interface Plan {
  readonly index: string;
  readonly isUniqueKey: boolean;
  readonly equals: readonly (readonly [field: string, value: unknown])[];
  /** The index's fields after those. */
  readonly rest: readonly string[];
  readonly from: string | number | undefined;
  readonly to: string | number | undefined;
  readonly isDescending: boolean;
  readonly limit: number;
  readonly offset: number;
}

interface AnyQuery {
  readonly index: string;
  readonly equals: object;
  readonly from?: string | number;
  readonly to?: string | number;
  readonly descending?: boolean;
  readonly limit?: number;
  readonly offset?: number;
}

/** Resolves a query; throws when it is not one that its index can answer. */
export function planQuery(collection: AnyCollection, query: AnyQuery): Plan {
  const isUniqueKey = Object.hasOwn(collection.uniqueKeys, query.index);
  const fields = isUniqueKey
    ? collection.uniqueKeys[query.index]
    : Object.hasOwn(collection.indexes, query.index)
      ? collection.indexes[query.index]
      : undefined;
  if (fields === undefined) throw new TypeError(`${collection.name}: no index ${query.index} is declared`);
  const given = new Map(Object.entries(query.equals).filter(([, value]) => value !== undefined));
  const equals = fields.slice(0, given.size).map((field) => [field, given.get(field)] as const);
  for (const [field, value] of equals) {
    if (value === undefined || value === null)
      throw new TypeError(
        `${collection.name}: equals must give the first fields of ${query.index}, and ${field} is missing`,
      );
    checkValue(collection, field, value);
  }
  if (equals.length < given.size)
    throw new TypeError(`${collection.name}: ${query.index} has fewer fields than equals`);
  const rest = fields.slice(given.size);
  for (const bound of [query.from, query.to]) {
    if (bound === undefined) continue;
    if (rest[0] === undefined)
      throw new TypeError(`${collection.name}: ${query.index} has no field left for from and to`);
    checkValue(collection, rest[0], bound);
  }
  return {
    index: query.index,
    isUniqueKey,
    equals,
    rest,
    from: query.from,
    to: query.to,
    isDescending: query.descending === true,
    limit: checkedCount(query.limit ?? 0, documentLimits.found, 'limit'),
    offset: checkedCount(query.offset ?? 0, Number.MAX_SAFE_INTEGER, 'offset'),
  };
}

function checkedCount(value: number, max: number, name: string): number {
  if (!Number.isSafeInteger(value) || value < 0 || value > max)
    throw new RangeError(`${name} must be an integer from 0 to ${max}`);
  return value;
}

export function checkAtMost(count: number, max: number, what: string): void {
  if (count > max) throw new RangeError(`at most ${max} ${what} at once, not ${count}`);
}
