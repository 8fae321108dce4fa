import type { PlacedRecord, RecordType } from '../domain/log-record.ts';
import { emptied, type StoredMessage } from '../domain/message.ts';
import type { TopicRecord, TopicStats } from '../ports/messages.ts';

/**
 * What a message store must show of a set of records, whatever their order and however often each came, worked out
 * in the plainest way. Nothing in it expires.
 */
export class MessagesModel {
  readonly #records: readonly PlacedRecord[];

  constructor(records: readonly PlacedRecord[]) {
    this.#records = [...records].sort((a, b) => a.offset - b.offset);
  }

  find(messageId: string): StoredMessage | null {
    const ofMessage = this.#records.filter(({ record }) => record.message.id === messageId);
    const ofType = (type: RecordType) => ofMessage.filter(({ record }) => record.type === type);
    const first = ofType('message')[0];
    if (first === undefined) return null;
    const content = (ofType('message_edited').at(-1) ?? first).record.message;
    const deletions = ofType('message_deleted').map(({ record }) => record.message.deletedAt!);
    const deletedAt = deletions.length === 0 ? null : Math.min(...deletions);
    return { ...content, offset: first.offset, isDeleted: deletedAt !== null, deletedAt };
  }

  /** What history shows, oldest first. */
  history(topicId: string): StoredMessage[] {
    return this.#ownRecords(topicId).filter(({ record }) => record.type === 'message')
      .map(({ record }) => this.find(record.message.id)!).filter(({ isDeleted }) => !isDeleted);
  }

  records(topicId: string): TopicRecord[] {
    return this.#ownRecords(topicId).flatMap(({ offset, record: { type, timestamp, message: { id } } }) => {
      const message = this.find(id);
      if (message === null) return [];
      return [{ offset, type, timestamp, message: message.deletedAt === null ? message : emptied(message, message.deletedAt) }];
    });
  }

  /** Of the topic and not a second copy, with the position of the one before. */
  settled(topicId: string): { offset: number; previousOffset: number | null }[] {
    return this.#ownRecords(topicId).map(({ offset }, index, all) => ({ offset, previousOffset: all[index - 1]?.offset ?? null }));
  }

  offsetAtTime(topicId: string, time: number): number | null {
    return this.#ownRecords(topicId).find(({ record }) => record.timestamp >= time)?.offset ?? null;
  }

  lastOffset(topicId: string): number {
    return this.#ofTopic(topicId).at(-1)?.offset ?? -1;
  }

  stats(topicId: string): TopicStats {
    const times = this.#ofTopic(topicId).filter(({ record }) => record.type === 'message').map(({ record }) => record.timestamp);
    return { messageCount: this.history(topicId).length, lastMessageAt: times.length === 0 ? null : Math.max(...times) };
  }

  #ofTopic(topicId: string): PlacedRecord[] {
    return this.#records.filter(({ record }) => record.message.topicId === topicId);
  }

  /** Without second copies. */
  #ownRecords(topicId: string): PlacedRecord[] {
    return this.#ofTopic(topicId).filter(({ offset, record }) =>
      record.type !== 'message' || this.find(record.message.id)!.offset === offset);
  }
}
