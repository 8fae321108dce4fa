/**
 * Objects outside the engines, for messages that retention removes. Keys consist of segments of letters, digits, `.`,
 * `_` and `-`, separated by `/`; no segment begins with a dot. Any other key throws TypeError. All methods throw
 * AppError `unavailable` within a bounded time if the store cannot be reached, refuses, or does not respond.
 */
export interface ArchiveStore {
  /**
   * Writes an object whole or not at all; replaces an existing object of the key. Resolves only after the store has
   * confirmed it durably. Rethrows an error of the body. Uses bounded memory.
   */
  put(key: string, body: AsyncIterable<Uint8Array>): Promise<void>;

  /** Returns the object in pieces, or null if it does not exist. Reading it can throw `unavailable`. */
  get(key: string): Promise<AsyncIterable<Uint8Array> | null>;

  /** Returns the keys that begin with the prefix, in the order of their characters. */
  list(prefix: string): AsyncIterable<string>;

  /**
   * Removes the object with all versions that the store kept when it was replaced. `removed`: none exists any more, or
   * never did. `locked`: the store keeps some because of an object lock, a retention period or a legal hold.
   */
  remove(key: string): Promise<'removed' | 'locked'>;

  close(): Promise<void>;
}

const keyPattern = /^[A-Za-z0-9_-][A-Za-z0-9._-]*(\/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$/;

/** The limit of S3, for the prefix and the key together. */
const keyLengthMax = 1_024;

/** Throws TypeError for a key that could leave the store's place or that a store would not keep unchanged. */
export function checkArchiveKey(key: string): void {
  if (!keyPattern.test(key) || key.length > keyLengthMax)
    throw new TypeError(`${JSON.stringify(key)} is not an archive key`);
}
