import { createHash } from 'node:crypto';
import type { Collection } from '../ports/documents.ts';

/** The message that the next publish with the same sequence ID replaces. */
export interface MessageSequence {
  /** Hash of publisher, topic and sequence ID. */
  readonly id: string;
  readonly version: number;
  /** Not stored if its publish failed. */
  readonly messageId: string;
  /** The message's. */
  readonly expiresAt: number;
}

export const messageSequences: Collection<MessageSequence> = {
  name: 'messageSequences',
  fields: { messageId: 'text', expiresAt: 'time' },
  uniqueKeys: {},
  indexes: { byExpiry: ['expiresAt'], byMessage: ['messageId'] },
};

/** Returns the document ID of a sequence. Sequences are separate per publisher and topic. */
export function messageSequenceId(of: { publisher: string; topicId: string; sequenceId: string }): string {
  return createHash('sha256')
    .update(JSON.stringify([of.publisher, of.topicId, of.sequenceId]))
    .digest('hex');
}
