import type { FieldKind } from './documents.ts';

/**
 * Input checks shared by all drivers of the documents port. They reject undeclared collections, fields and indexes, and
 * values of the wrong kind. Violations are programming errors and throw TypeError or RangeError. The kind check also
 * prevents operator injection: `{"$ne": null}` never becomes part of a query.
 */

/** A collection of any document type. */
export interface AnyCollection {
  readonly name: string;
  readonly fields: { readonly [field: string]: FieldKind };
  readonly uniqueKeys: { readonly [name: string]: readonly string[] };
  readonly indexes: { readonly [name: string]: readonly string[] };
  readonly retired?: readonly string[];
  readonly isAppendOnly?: boolean;
  readonly cached?: { readonly lateFields: readonly string[] };
}

export const documentLimits = { ids: 1_000, writes: 1_000, found: 10_000 } as const;

/** Identifiers are used as names of tables, columns and indexes. */
const identifier = /^[a-z][A-Za-z0-9]{0,39}$/;
const indexable: ReadonlySet<FieldKind> = new Set(['text', 'integer', 'boolean', 'time']);

/** Returns the kind of a field, including `id` and `version`. Throws for an undeclared field. */
export function kindOf(collection: AnyCollection, field: string): FieldKind {
  if (field === 'id') return 'text';
  if (field === 'version') return 'integer';
  const kind = Object.hasOwn(collection.fields, field) ? collection.fields[field] : undefined;
  if (kind === undefined) throw new TypeError(`${collection.name}: field ${field} is not declared`);
  return kind;
}

/** Throws if the declaration is invalid: bad names, or keys over unknown or unordered fields. */
export function checkCollection(collection: AnyCollection): void {
  const names = [
    collection.name,
    ...Object.keys(collection.fields),
    ...Object.keys(collection.uniqueKeys),
    ...Object.keys(collection.indexes),
  ];
  for (const name of names) {
    if (!identifier.test(name))
      throw new TypeError(`${collection.name}: ${name} must be camelCase with at most 40 characters`);
  }
  for (const field of ['id', 'version']) {
    if (Object.hasOwn(collection.fields, field))
      throw new TypeError(`${collection.name}: ${field} is implicit and must not be declared`);
  }
  for (const [name, fields] of [...Object.entries(collection.uniqueKeys), ...Object.entries(collection.indexes)]) {
    if (fields.length === 0) throw new TypeError(`${collection.name}: ${name} has no fields`);
    if (new Set(fields).size < fields.length) throw new TypeError(`${collection.name}: ${name} lists a field twice`);
    for (const field of fields) {
      if (!indexable.has(kindOf(collection, field)))
        throw new TypeError(`${collection.name}: ${name} cannot include ${field}, which has no order`);
    }
  }
  for (const lists of [collection.uniqueKeys, collection.indexes]) {
    const fieldLists = Object.values(lists).map((fields) => fields.join(' '));
    if (new Set(fieldLists).size < fieldLists.length)
      throw new TypeError(`${collection.name}: two indexes have the same fields`);
  }
  for (const field of collection.cached?.lateFields ?? []) kindOf(collection, field);
  for (const name of Object.keys(collection.uniqueKeys)) {
    if (Object.hasOwn(collection.indexes, name))
      throw new TypeError(`${collection.name}: ${name} is both a unique key and an index`);
  }
  for (const name of collection.retired ?? []) {
    if (Object.hasOwn(collection.uniqueKeys, name) || Object.hasOwn(collection.indexes, name))
      throw new TypeError(`${collection.name}: ${name} is declared and retired`);
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

/** Throws unless the value is null or of the field's kind. */
function checkValue(collection: AnyCollection, field: string, value: unknown): void {
  const kind = kindOf(collection, field);
  if (value !== null && !isOfKind(kind, value)) {
    throw new TypeError(`${collection.name}: ${field} must be of kind ${kind}, not ${typeof value}`);
  }
}

export function checkId(collection: AnyCollection, id: unknown): asserts id is string {
  if (typeof id !== 'string') throw new TypeError(`${collection.name}: an ID must be a string, not ${typeof id}`);
}

export function checkVersion(collection: AnyCollection, version: unknown): asserts version is number {
  if (!Number.isSafeInteger(version)) throw new TypeError(`${collection.name}: a version must be an integer`);
}

/** Returns the values of a new document, one per declared field; missing fields become null. */
export function checkNew(collection: AnyCollection, document: object): { id: string; values: Map<string, unknown> } {
  const input = document as { readonly [field: string]: unknown };
  checkId(collection, input.id);
  for (const field of Object.keys(input)) {
    if (field !== 'id' && field !== 'version') kindOf(collection, field);
  }
  const values = new Map<string, unknown>();
  for (const field of Object.keys(collection.fields)) {
    const value = Object.hasOwn(input, field) ? (input[field] ?? null) : null;
    checkValue(collection, field, value);
    values.set(field, value);
  }
  return { id: input.id, values };
}

/** Throws unless the field can be accumulated: an integer with a value, and not part of a unique key. */
export function checkSum(collection: AnyCollection, field: string, value: unknown): void {
  if (kindOf(collection, field) !== 'integer' || !Number.isSafeInteger(value))
    throw new TypeError(`${collection.name}: ${field} is not an integer`);
  checkNotInKey(collection, field);
}

/** Returns the values to set, in declaration order. Ignores undefined values. */
export function checkChanges(collection: AnyCollection, set: object): Map<string, unknown> {
  return checkFields(collection, set, (field, value) => checkValue(collection, field, value));
}

/** Returns the increments, in declaration order. */
export function checkIncrements(collection: AnyCollection, by: object): Map<string, number> {
  const checked = checkFields(collection, by, (field, value) => {
    if (kindOf(collection, field) !== 'integer')
      throw new TypeError(`${collection.name}: ${field} is not an integer field`);
    if (!Number.isSafeInteger(value))
      throw new TypeError(`${collection.name}: the increment of ${field} must be an integer`);
  });
  return checked as Map<string, number>;
}

export function checkRaise(collection: AnyCollection, { field, to }: { field: string; to: number }): void {
  checkChangeable(collection);
  if (field === 'version' || !['time', 'integer'].includes(kindOf(collection, field)))
    throw new TypeError(`${collection.name}: ${field} is not a time or integer field`);
  checkNotInKey(collection, field);
  if (!Number.isSafeInteger(to))
    throw new TypeError(`${collection.name}: the new value of ${field} must be an integer`);
}

function checkNotInKey(collection: AnyCollection, field: string): void {
  if (Object.values(collection.uniqueKeys).some((fields) => fields.includes(field)))
    throw new TypeError(`${collection.name}: ${field} is part of a unique key`);
}

function checkChangeable(collection: AnyCollection): void {
  if (collection.isAppendOnly === true)
    throw new TypeError(`${collection.name}: an append-only collection cannot be changed`);
}

function checkFields(
  collection: AnyCollection,
  fields: object,
  check: (field: string, value: unknown) => void,
): Map<string, unknown> {
  checkChangeable(collection);
  const values = fields as { readonly [field: string]: unknown };
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

/** A query resolved against its index. */
export interface Plan {
  readonly index: string;
  readonly isUniqueKey: boolean;
  readonly equals: readonly (readonly [field: string, value: unknown])[];
  /** The remaining fields of the index. */
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

/** Resolves a query. Throws if its index cannot answer it. */
export function planQuery(collection: AnyCollection, query: AnyQuery): Plan {
  const isUniqueKey = Object.hasOwn(collection.uniqueKeys, query.index);
  const fields = isUniqueKey
    ? collection.uniqueKeys[query.index]
    : Object.hasOwn(collection.indexes, query.index)
      ? collection.indexes[query.index]
      : undefined;
  if (fields === undefined) throw new TypeError(`${collection.name}: index ${query.index} is not declared`);
  const values = new Map(Object.entries(query.equals).filter(([, value]) => value !== undefined));
  const equals = fields.slice(0, values.size).map((field) => [field, values.get(field)] as const);
  for (const [field, value] of equals) {
    if (value === undefined || value === null)
      throw new TypeError(
        `${collection.name}: equals must contain the first fields of ${query.index}; ${field} is missing`,
      );
    checkValue(collection, field, value);
  }
  if (equals.length < values.size)
    throw new TypeError(`${collection.name}: ${query.index} has fewer fields than equals`);
  const rest = fields.slice(values.size);
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
  if (count > max) throw new RangeError(`at most ${max} ${what} per call, got ${count}`);
}
