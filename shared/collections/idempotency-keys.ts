import { createHash } from 'node:crypto';
import type { Collection } from '../ports/documents.ts';

/** A publisher's promise that a publish is the same one: which message it became, or is about to become. */
export interface IdempotencyKey {
  /** Hash of publisher, topic and key. */
  readonly id: string;
  readonly version: number;
  /** The message that this key stands for, whatever becomes of the sends. */
  readonly messageId: string;
  /** When the last send under the key began. */
  readonly reservedAt: number;
  /** The last send was answered with a failure: a retry takes over at once. */
  readonly hasFailed: boolean;
  readonly expiresAt: number;
}

export const idempotencyKeys: Collection<IdempotencyKey> = {
  name: 'idempotencyKeys',
  fields: { messageId: 'text', reservedAt: 'time', hasFailed: 'boolean', expiresAt: 'time' },
  uniqueKeys: {},
  indexes: { byExpiry: ['expiresAt'] },
};

/** The id that the key is stored under: the same key by another publisher or on another topic is another one. */
export function idempotencyKeyId(of: { publisher: string; topicId: string; key: string }): string {
  return createHash('sha256')
    .update(JSON.stringify([of.publisher, of.topicId, of.key]))
    .digest('hex');
}
