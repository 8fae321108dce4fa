import { contentMatcher, FilterSubject } from '../../domain/messages/content-filter.ts';
import type { PlacedRecord, RecordType } from '../../domain/messages/log-record.ts';
import { asManagersSee, type MessageFilter } from '../../domain/messages/message-filter.ts';
import { redacted, type StoredMessage } from '../../domain/messages/message.ts';
import type { TopicRecord, TopicStats } from '../../ports/messages/message-reads.ts';

/**
 * A minimal model of a message store: the expected reads for a set of records, independent of their order and
 * repetition. Messages only expire in filters.
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
    const changes = ofMessage.filter(({ record: { type } }) => type !== 'message' && type !== 'message_deleted');
    const content = (changes.at(-1) ?? first).record.message;
    const deletions = ofType('message_deleted').map(({ record }) => record.message.deletedAt!);
    const deletedAt = deletions.length === 0 ? null : Math.min(...deletions);
    const { timestamp, expiresAt, publishedBy } = first.record.message;
    return {
      ...content,
      timestamp,
      expiresAt,
      publishedBy,
      offset: first.offset,
      isDeleted: deletedAt !== null,
      deletedAt,
    };
  }

  /** Returns the history, oldest first. */
  history(topicId: string): StoredMessage[] {
    return this.#ownRecords(topicId)
      .filter(({ record }) => record.type === 'message')
      .map(({ record }) => this.find(record.message.id)!)
      .filter(({ isDeleted }) => !isDeleted);
  }

  /** Returns all matching messages, newest first. */
  matching(filter: MessageFilter): StoredMessage[] {
    const published = this.#records.filter(
      ({ record }) => record.type === 'message' && filter.topicIds.includes(record.message.topicId),
    );
    const messages = [...new Set(published.map(({ record }) => record.message.id))].map((id) =>
      asManagersSee(this.find(id)!, filter.now),
    );
    return messages.filter((message) => isLetThrough(message, filter)).sort((a, b) => b.offset - a.offset);
  }

  /** Returns matching messages by bucket start and priority. */
  activity(filter: MessageFilter, bucketMs: number): Map<string, number> {
    const counts = new Map<string, number>();
    for (const { timestamp, priority } of this.matching(filter)) {
      const key = `${Math.floor(timestamp / bucketMs) * bucketMs} ${priority}`;
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    return counts;
  }

  records(topicId: string): TopicRecord[] {
    return this.#ownRecords(topicId).flatMap(
      ({
        offset,
        record: {
          type,
          timestamp,
          message: { id },
        },
      }) => {
        const message = this.find(id);
        if (message === null) return [];
        return [
          {
            offset,
            type,
            timestamp,
            message: message.deletedAt === null ? message : redacted(message, message.deletedAt),
          },
        ];
      },
    );
  }

  /** Returns the topic's records without duplicates, with the previous offsets. */
  reconciled(topicId: string): { offset: number; previousOffset: number | null }[] {
    return this.#ownRecords(topicId).map(({ offset }, index, all) => ({
      offset,
      previousOffset: all[index - 1]?.offset ?? null,
    }));
  }

  offsetAtTime(topicId: string, time: number): number | null {
    return this.#ownRecords(topicId).find(({ record }) => record.timestamp >= time)?.offset ?? null;
  }

  lastOffset(topicId: string): number {
    return this.#ofTopic(topicId).at(-1)?.offset ?? -1;
  }

  stats(topicId: string): TopicStats {
    const times = this.#ofTopic(topicId)
      .filter(({ record }) => record.type === 'message')
      .map(({ record }) => record.timestamp);
    return {
      messageCount: this.history(topicId).length,
      lastMessageAt: times.length === 0 ? null : Math.max(...times),
    };
  }

  #ofTopic(topicId: string): PlacedRecord[] {
    return this.#records.filter(({ record }) => record.message.topicId === topicId);
  }

  /** Without duplicates. */
  #ownRecords(topicId: string): PlacedRecord[] {
    return this.#ofTopic(topicId).filter(
      ({ offset, record }) => record.type !== 'message' || this.find(record.message.id)!.offset === offset,
    );
  }
}

function isLetThrough(message: StoredMessage, filter: MessageFilter): boolean {
  const { from, to, includesDeleted, now } = filter;
  return (
    message.expiresAt > now &&
    (includesDeleted || !message.isDeleted) &&
    contentMatcher(filter)(new FilterSubject(message)) &&
    message.timestamp >= (from ?? -Infinity) &&
    message.timestamp <= (to ?? Infinity)
  );
}
