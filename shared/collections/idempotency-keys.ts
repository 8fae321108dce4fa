import { createHash } from 'node:crypto';
import type { Collection } from '../ports/documents.ts';

/** The idempotency key of a publish and its message. */
export interface IdempotencyKey {
  /** Hash of publisher, topic and key. */
  readonly id: string;
  readonly version: number;
  /** ID of the message, whether or not a send succeeded. */
  readonly messageId: string;
  /** When the last send with this key started. */
  readonly reservedAt: number;
  /** Whether the last send failed: a retry can then take over immediately. */
  readonly hasFailed: boolean;
  readonly expiresAt: number;
}

export const idempotencyKeys: Collection<IdempotencyKey> = {
  name: 'idempotencyKeys',
  fields: { messageId: 'text', reservedAt: 'time', hasFailed: 'boolean', expiresAt: 'time' },
  uniqueKeys: {},
  indexes: { byExpiry: ['expiresAt'] },
};

/** Returns the document ID of a key. Keys are separate per publisher and topic. */
export function idempotencyKeyId(of: { publisher: string; topicId: string; key: string }): string {
  return createHash('sha256')
    .update(JSON.stringify([of.publisher, of.topicId, of.key]))
    .digest('hex');
}
