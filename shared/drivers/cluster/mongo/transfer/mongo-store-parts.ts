import type { Connection, mongo } from 'mongoose';
import { foldCase, isPlain } from '../../../../domain/fold-case.ts';
import { chunkItems } from '../../../../async/chunk-items.ts';
import type { Delivery } from '../../../../ports/deliveries.ts';
import {
  rowsPageMax,
  type ChangeRow,
  type LostRecordRow,
  type MessageRow,
  type Row,
  type StoreRows,
  type TopicCountersRow,
} from '../../../../ports/installation-rows.ts';
import { deliveryOf, rowIdOf, rowTime, storedId, type DeliveryRow } from '../deliveries/mongo-delivery-rows.ts';
import {
  byTopic,
  type ChangeDocument,
  type LostRecordDocument,
  type MessageCollections,
  type MessageDocument,
} from '../messages/mongo-message-collections.ts';
import { topicFigures } from '../messages/mongo-topic-counts.ts';
import type { MongoPart } from './mongo-part.ts';

/** The parts of an installation that are not documents. */
export function mongoStoreParts(
  connection: Connection,
  collections: MessageCollections,
): Record<keyof StoreRows, MongoPart> {
  const partitionsOf = partitionReader(connection);
  return {
    topicFigures: topicCounters(collections),
    changes: changes(collections.changes, partitionsOf),
    messages: messages(collections.messages, partitionsOf),
    lostRecords: lostRecords(collections.lost),
    deliveries: deliveries(connection.db!.collection<DeliveryRow>('deliveries')),
  };
}

type PartitionsOf = (rows: readonly { readonly topicId: string }[]) => Promise<(topicId: string) => number>;

/** Returns the partition of each topic; 0 for a removed topic that is not fully erased. */
function partitionReader(connection: Connection): PartitionsOf {
  const topics = connection.db!.collection<{ _id: string; partition: number }>('topics');
  return async (rows) => {
    const found = await topics
      .find({ _id: { $in: [...new Set(rows.map(({ topicId }) => topicId))] } }, { projection: { partition: 1 } })
      .toArray();
    const partitions = new Map(found.map(({ _id, partition }) => [_id, partition]));
    return (topicId) => partitions.get(topicId) ?? 0;
  };
}

const asCollection = (collection: unknown): mongo.Collection => collection as mongo.Collection;

/** Writes a topic's counters as those of an earlier version: they count everything up to the last offset. */
function topicCounters(collections: MessageCollections): MongoPart {
  return {
    collection: asCollection(collections.stats),
    toRow: (document) => document,
    toDocuments: (rows) =>
      (rows as TopicCountersRow[]).map(({ topicId, messageCount, lastOffset, lastMessageAt }) => ({
        _id: { topicId, part: 0 },
        topicId,
        messageCount,
        lastOffset,
        ...(lastMessageAt === null ? {} : { lastMessageAt }),
      })),
    async *pages() {
      const topicIds = [{ $group: { _id: '$topicId' } }];
      const all = collections.messages.aggregate<{ _id: string }>(
        [
          ...topicIds,
          { $unionWith: { coll: collections.stats.collectionName, pipeline: topicIds } },
          { $group: { _id: '$_id' } },
          { $sort: { _id: 1 } },
        ],
        { hint: byTopic, allowDiskUse: true },
      );
      for await (const page of chunkItems(all, rowsPageMax)) {
        const figures = await topicFigures(
          collections,
          page.map(({ _id }) => _id),
        );
        yield [...figures].map(([topicId, counters]): Row => ({ topicId, ...counters }));
      }
    },
  };
}

function changes(collection: mongo.Collection<ChangeDocument>, partitionsOf: PartitionsOf): MongoPart {
  return {
    collection: asCollection(collection),
    toRow: (document): ChangeRow => {
      const { type, topicId, messageId, offset, timestamp } = document as ChangeDocument;
      return { type, topicId, messageId, offset, timestamp };
    },
    toDocuments: async (rows) => {
      const partitionOf = await partitionsOf(rows as ChangeRow[]);
      return (rows as ChangeRow[]).map((row): ChangeDocument => ({
        _id: { partition: partitionOf(row.topicId), offset: row.offset },
        ...row,
      }));
    },
  };
}

function messages(collection: mongo.Collection<MessageDocument>, partitionsOf: PartitionsOf): MongoPart {
  return {
    collection: asCollection(collection),
    toRow: (document): MessageRow => {
      const of = document as MessageDocument;
      return {
        id: of._id,
        topicId: of.topicId,
        offset: of.offset ?? null,
        message: of.message,
        title: of.title,
        priority: of.priority as MessageRow['priority'],
        tags: of.tags,
        timestamp: of.timestamp,
        expiresAt: of.expiresAt,
        markdown: of.markdown,
        contentRev: of.contentRev,
        editedAt: of.editedAt,
        deletedAt: of.deletedAt ?? null,
        extras: of.extras ?? null,
        publishedBy: of.publishedBy ?? null,
      };
    },
    toDocuments: async (rows) => {
      const partitionOf = await partitionsOf(rows as MessageRow[]);
      return (rows as MessageRow[]).map((row): MessageDocument => toDocument(row, partitionOf(row.topicId)));
    },
  };
}

function toDocument({ id, offset, deletedAt, ...content }: MessageRow, partition: number): MessageDocument {
  const texts = content.title === null ? [content.message] : [content.title, content.message];
  return {
    _id: id,
    ...content,
    partition,
    ...(offset === null ? {} : { offset }),
    ...(deletedAt === null ? {} : { deletedAt }),
    ...(texts.every(isPlain) ? {} : { folded: texts.map(foldCase) }),
  };
}

function lostRecords(collection: mongo.Collection<LostRecordDocument>): MongoPart {
  return {
    collection: asCollection(collection),
    toRow: (document): LostRecordRow => {
      const { topicId, offset } = document as LostRecordDocument;
      return { topicId, offset };
    },
    toDocuments: (rows) =>
      (rows as LostRecordRow[]).map(({ topicId, offset }): LostRecordDocument => ({
        _id: { topicId, offset },
        topicId,
        offset,
      })),
  };
}

function deliveries(ledger: mongo.Collection<DeliveryRow>): MongoPart {
  return {
    collection: asCollection(ledger),
    toRow: (document) => deliveryOf(document as DeliveryRow),
    toDocuments: (rows) =>
      (rows as Delivery[]).map(
        ({ messageId, deviceId, topicId, userId, subscriptionId, updatedAt, ...rest }): DeliveryRow => ({
          _id: rowIdOf(messageId, deviceId),
          topicId: storedId(topicId),
          userId: storedId(userId),
          subscriptionId: storedId(subscriptionId),
          ...rest,
          ...rowTime(updatedAt),
        }),
      ),
  };
}
