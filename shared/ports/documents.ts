/**
 * The document store for the light entities (users, teams, topics, devices, keys, …).
 *
 * It is closed on purpose: no query language, no filter that is not a declared index, no interactive transaction.
 * Guarantees: reads see what was written before (read your writes, on every node); unique keys hold under races;
 * `commit` is all or nothing; what resolved survives a crash.
 * Every call throws AppError `unavailable` when the store cannot be reached (within two seconds when it is known to be
 * away), UniqueKeyViolation and StaleVersion as named below.
 */
export interface Documents {
  /** The document, or null. */
  get<T extends Document>(collection: Collection<T>, id: string): Promise<T | null>;

  /** The documents that exist, in any order; at most 1,000 ids. */
  getMany<T extends Document>(collection: Collection<T>, ids: readonly string[]): Promise<T[]>;

  /** The ids and these fields of the documents that exist, in any order; at most 1,000 ids. For many documents of which little is asked. */
  pick<T extends Document, F extends keyof T & string>(
    collection: Collection<T>,
    ids: readonly string[],
    fields: readonly F[],
  ): Promise<Pick<T, F | 'id'>[]>;

  /** Sorted by the index's fields after the given ones, then by id: null first, false before true, texts by their UTF-8 bytes. */
  find<T extends Document>(collection: Collection<T>, query: Query<T>): Promise<T[]>;

  /** How many documents match; `limit` and `offset` are not looked at. */
  count<T extends Document>(collection: Collection<T>, query: Omit<Query<T>, 'limit'>): Promise<number>;

  /**
   * A text that is another one after every write to any of the collections, whoever made it: what was read of them and kept is
   * as good as read now while the stamp that was taken before is the same. Null where the engine cannot tell without asking.
   */
  stamp(collections: readonly { readonly name: string }[]): string | null;

  /** Stores a new document (its `version` becomes 1). Throws UniqueKeyViolation, also for an id that exists. */
  insert<T extends Document>(collection: Collection<T>, document: New<T>): Promise<T>;

  /**
   * Sets the given fields if the stored version is `version`, and resolves with the new document (version + 1).
   * Throws StaleVersion when it is not, or the document is gone; UniqueKeyViolation.
   */
  update<T extends Document>(
    collection: Collection<T>,
    at: { id: string; version: number },
    set: Changes<T>,
  ): Promise<T>;

  /**
   * Adds to integer fields (null counts as 0) without regard to the version, which stays. A document that is gone
   * changes nothing. Throws UniqueKeyViolation.
   */
  increment<T extends Document>(collection: Collection<T>, id: string, by: Increments<T>): Promise<void>;

  /**
   * Raises a `time` or `integer` field to a value in all of the documents where it is lower or null, without regard to the
   * version, which stays. Documents that are gone change nothing. At most 1,000 ids; never a field of a unique key.
   */
  raise<T extends Document>(
    collection: Collection<T>,
    ids: readonly string[],
    raised: { field: keyof T & string; to: number },
  ): Promise<void>;

  /** Removes the document; resolves with whether it was there. */
  remove<T extends Document>(collection: Collection<T>, id: string): Promise<boolean>;

  /** Conditional writes that all happen, in order, or none. At most 1,000. Throws as the single operations do. */
  commit(writes: readonly Write[]): Promise<void>;

  /** What the store's own clock shows; null where it has none but this process's. */
  storeTime(): Promise<number | null>;

  ping(): Promise<void>;
  close(): Promise<void>;
}

/** Every document has an id and a version, which grows by one with each update. */
export interface Document {
  readonly id: string;
  readonly version: number;
}

export type New<T extends Document> = Omit<T, 'version'>;
export type Changes<T extends Document> = Partial<Omit<T, 'id' | 'version'>>;
export type Increments<T extends Document> = { readonly [K in keyof T as T[K] extends number ? K : never]?: number };

/** `time` is milliseconds since the epoch; `json` is any JSON value, kept as it is. Any field may be null. */
export type FieldKind = 'text' | 'integer' | 'real' | 'boolean' | 'time' | 'json';

/**
 * A kind of document, declared once; drivers make their tables and models from it.
 * Fields of indexes and unique keys are of kind text, integer, boolean or time.
 */
export interface Collection<T extends Document> {
  readonly name: string;
  readonly fields: { readonly [K in Exclude<keyof T, 'id' | 'version'>]: FieldKind };
  /** Named lists of fields that no two documents share. A document with null in one of them is not bound by the key. */
  readonly uniqueKeys: { readonly [name: string]: readonly (keyof T & string)[] };
  readonly indexes: { readonly [name: string]: readonly (keyof T & string)[] };
  /** Documents are inserted and removed, and never changed: `update`, `increment` and `raise` throw a TypeError. */
  readonly isAppendOnly?: boolean;
}

export interface Query<T extends Document> {
  /** Name of an index or a unique key of the collection. Through a key, only documents that it binds are found. */
  readonly index: string;
  /** Values for the first fields of the index; none of them null. May be empty. */
  readonly equals: Partial<T>;
  /** Bounds, inclusive, on the index field that follows those. Nulls are outside of every bound. */
  readonly from?: string | number;
  readonly to?: string | number;
  readonly descending?: boolean;
  /** At most 10,000. */
  readonly limit: number;
  readonly offset?: number;
}

/** One of the writes of a `commit`. Made with `write.*`, which keeps collection and document types together. */
export type Write =
  | { readonly kind: 'insert'; readonly collection: Collection<Document>; readonly document: New<Document> }
  | {
      readonly kind: 'update';
      readonly collection: Collection<Document>;
      readonly id: string;
      readonly version: number;
      readonly set: object;
    }
  | { readonly kind: 'increment'; readonly collection: Collection<Document>; readonly id: string; readonly by: object }
  /** With a version, the removal is conditional: StaleVersion when the document has another one or is gone. */
  | {
      readonly kind: 'remove';
      readonly collection: Collection<Document>;
      readonly id: string;
      readonly version?: number;
    }
  /** Changes nothing; StaleVersion when the document does not have this version at the moment of the commit. */
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

/** Another document holds the key. `key` is the name under `uniqueKeys`, or `id`. A retry cannot help. */
export class UniqueKeyViolation extends Error {
  readonly collection: string;
  readonly key: string;
  constructor(collection: string, key: string) {
    super(`${collection}: a document with this ${key} exists already`);
    this.name = 'UniqueKeyViolation';
    this.collection = collection;
    this.key = key;
  }
}

/** The document was changed or removed since it was read: read it again and decide anew. */
export class StaleVersion extends Error {
  readonly collection: string;
  readonly id: string;
  constructor(collection: string, id: string) {
    super(`${collection}: ${id} was changed meanwhile`);
    this.name = 'StaleVersion';
    this.collection = collection;
    this.id = id;
  }
}
