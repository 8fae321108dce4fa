/**
 * The document store for small entities (users, teams, topics, devices, keys, …).
 *
 * The port is deliberately narrow: no query language, no filter without a declared index, no interactive transaction.
 * Guarantees: reads see all earlier writes (of every node); unique keys hold under races; `commit` is atomic; resolved
 * writes survive a crash.
 * Every call throws AppError `unavailable` if the store is unreachable (within two seconds during a known outage).
 */
export interface Documents {
  /** Returns the document, or null. */
  get<T extends Document>(collection: Collection<T>, id: string): Promise<T | null>;

  /** Returns the existing documents, in any order; at most 1,000 IDs. */
  getMany<T extends Document>(collection: Collection<T>, ids: readonly string[]): Promise<T[]>;

  /** Returns only the ID and these fields of the existing documents, in any order; at most 1,000 IDs. */
  pick<T extends Document, F extends keyof T & string>(
    collection: Collection<T>,
    ids: readonly string[],
    fields: readonly F[],
  ): Promise<Pick<T, F | 'id'>[]>;

  /**
   * Returns matching documents, sorted by the index fields that `equals` omits, then by ID. Null sorts first, false
   * before true, and texts by UTF-8 bytes.
   */
  find<T extends Document>(collection: Collection<T>, query: Query<T>): Promise<T[]>;

  /** Returns the number of matching documents; ignores `limit` and `offset`. */
  count<T extends Document>(collection: Collection<T>, query: Omit<Query<T>, 'limit'>): Promise<number>;

  /** Stores a new document with `version` 1. Throws UniqueKeyViolation if a unique key or the ID exists. */
  insert<T extends Document>(collection: Collection<T>, document: New<T>): Promise<T>;

  /**
   * Sets the given fields if the stored version is `version`, and resolves with the new document (version + 1).
   * Throws StaleVersion if the version differs or the document does not exist; UniqueKeyViolation.
   */
  update<T extends Document>(
    collection: Collection<T>,
    at: { id: string; version: number },
    set: Changes<T>,
  ): Promise<T>;

  /**
   * Adds to integer fields (null counts as 0). Neither checks nor changes the version. Ignores a missing document.
   * Throws UniqueKeyViolation.
   */
  increment<T extends Document>(collection: Collection<T>, id: string, by: Increments<T>): Promise<void>;

  /**
   * Raises a `time` or `integer` field to a value in all documents where it is lower or null. Neither checks nor
   * changes the version. Ignores missing documents. At most 1,000 IDs; not for fields of unique keys.
   */
  raise<T extends Document>(
    collection: Collection<T>,
    ids: readonly string[],
    raised: { field: keyof T & string; to: number },
  ): Promise<void>;

  /** Removes the document; resolves with whether it existed. */
  remove<T extends Document>(collection: Collection<T>, id: string): Promise<boolean>;

  /** Runs at most 1,000 writes in order, all or none. Throws like the single operations. */
  commit(writes: readonly Write[]): Promise<void>;

  /** Resolves if the store responds within two seconds; throws otherwise. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** Every document has an ID and a version that each update increments. */
export interface Document {
  readonly id: string;
  readonly version: number;
}

export type New<T extends Document> = Omit<T, 'version'>;
export type Changes<T extends Document> = Partial<Omit<T, 'id' | 'version'>>;
export type Increments<T extends Document> = { readonly [K in keyof T as T[K] extends number ? K : never]?: number };

/** `time` is milliseconds since the epoch; `json` is any JSON value, stored unchanged. Any field can be null. */
export type FieldKind = 'text' | 'integer' | 'real' | 'boolean' | 'time' | 'json';

/**
 * The declaration of a document collection, from which drivers create tables and models.
 * Fields of indexes and unique keys must be text, integer, boolean or time.
 *
 * During an upgrade, nodes of two versions use a collection. Therefore declarations only grow: an index with other
 * fields has another name, and one that is not needed any more stays until a later version retires it.
 */
export interface Collection<T extends Document> {
  readonly name: string;
  readonly fields: { readonly [K in Exclude<keyof T, 'id' | 'version'>]: FieldKind };
  /** Lists of fields whose combined values are unique. Documents with null in one of the fields are exempt. */
  readonly uniqueKeys: { readonly [name: string]: readonly (keyof T & string)[] };
  readonly indexes: { readonly [name: string]: readonly (keyof T & string)[] };
  /** Former unique keys and indexes that no version in use needs. Drivers drop them. */
  readonly retired?: readonly string[];
  /** Documents can only be inserted, accumulated and removed: `update`, `increment` and `raise` throw TypeError. */
  readonly isAppendOnly?: boolean;
  /**
   * Set if nodes cache the documents: their changes are announced, see `StorageFeatures`. Changes of only `lateFields`
   * are not: caches do not use these, or may show former values.
   */
  readonly cached?: { readonly lateFields: readonly (keyof T & string)[] };
}

export interface Query<T extends Document> {
  /** An index or unique key of the collection. A unique key does not find documents with null in one of its fields. */
  readonly index: string;
  /** Values of the first fields of the index, possibly none. Null is not allowed. */
  readonly equals: Partial<T>;
  /** Inclusive bounds of the next index field. Null is never within bounds. */
  readonly from?: string | number;
  readonly to?: string | number;
  readonly descending?: boolean;
  /** At most 10,000. */
  readonly limit: number;
  readonly offset?: number;
}

/** A write of a `commit`. Create it with `write.*`, which checks the types of collection and document. */
export type Write =
  | { readonly kind: 'insert'; readonly collection: Collection<Document>; readonly document: New<Document> }
  | {
      readonly kind: 'update';
      readonly collection: Collection<Document>;
      readonly id: string;
      readonly version: number;
      readonly set: object;
    }
  /** Inserts the document. If its ID exists, adds its value of the integer field `sum`, if given, to the stored one. */
  | {
      readonly kind: 'accumulate';
      readonly collection: Collection<Document>;
      readonly document: New<Document>;
      readonly sum: string | null;
    }
  | { readonly kind: 'increment'; readonly collection: Collection<Document>; readonly id: string; readonly by: object }
  /** With a version, throws StaleVersion if the document has another one or does not exist. */
  | {
      readonly kind: 'remove';
      readonly collection: Collection<Document>;
      readonly id: string;
      readonly version?: number;
    }
  /** Writes nothing. Throws StaleVersion if the document does not have this version at the commit. */
  | {
      readonly kind: 'require';
      readonly collection: Collection<Document>;
      readonly id: string;
      readonly version: number;
    };

const erase = <T extends Document>(collection: Collection<T>): Collection<Document> =>
  collection as unknown as Collection<Document>;

/** Builders of the writes of a `commit`. */
export const write = {
  insert: <T extends Document>(collection: Collection<T>, document: New<T>): Write => ({
    kind: 'insert',
    collection: erase(collection),
    document,
  }),
  update: <T extends Document>(
    collection: Collection<T>,
    at: { id: string; version: number },
    set: Changes<T>,
  ): Write => ({ kind: 'update', collection: erase(collection), id: at.id, version: at.version, set }),
  accumulate: <T extends Document>(
    collection: Collection<T>,
    document: New<T>,
    sum: (keyof T & string) | null,
  ): Write => ({ kind: 'accumulate', collection: erase(collection), document, sum }),
  increment: <T extends Document>(collection: Collection<T>, id: string, by: Increments<T>): Write => ({
    kind: 'increment',
    collection: erase(collection),
    id,
    by,
  }),
  remove: <T extends Document>(collection: Collection<T>, id: string, version?: number): Write => ({
    kind: 'remove',
    collection: erase(collection),
    id,
    ...(version === undefined ? {} : { version }),
  }),
  require: <T extends Document>(collection: Collection<T>, at: { id: string; version: number }): Write => ({
    kind: 'require',
    collection: erase(collection),
    id: at.id,
    version: at.version,
  }),
};

/** Another document has the same key. `key` is the name in `uniqueKeys`, or `id`. A retry cannot help. */
export class UniqueKeyViolation extends Error {
  readonly collection: string;
  readonly key: string;
  constructor(collection: string, key: string) {
    super(`${collection}: a document with this ${key} already exists`);
    this.name = 'UniqueKeyViolation';
    this.collection = collection;
    this.key = key;
  }
}

/** The document changed since it was read. Read it again and decide again. */
export class StaleVersion extends Error {
  readonly collection: string;
  readonly id: string;
  constructor(collection: string, id: string) {
    super(`${collection}: ${id} was changed concurrently`);
    this.name = 'StaleVersion';
    this.collection = collection;
    this.id = id;
  }
}
