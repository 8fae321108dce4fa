import type { Connection } from 'mongoose';
import { writeBatcher } from '../../../../async/write-batcher.ts';
import type { PlacedRecord } from '../../../../domain/messages/log-record.ts';
import type { Clock } from '../../../../platform/clock.ts';
import type { Logger } from '../../../../platform/logger.ts';
import type { MessageIngest } from '../../../../ports/messages/message-ingest.ts';
import { mapUnavailable } from '../mongo-connection.ts';
import { mongoCheckpoints } from './mongo-checkpoints.ts';
import type { MessageCollections, WatermarkDocument } from './mongo-message-collections.ts';
import { watermarkOf } from './mongo-message-reads.ts';
import { mongoMessageWriter, mongoRecordMerger } from './mongo-message-writer.ts';
import { mongoReconcile } from './mongo-reconcile.ts';

/** Publishes share bulk writes. */
const applyLimits = { batchSizeMax: 500, writesMax: 4, itemsMax: 20_000 };
/** Partitions that move at the same time share a write. */
const watermarkLimits = { batchSizeMax: 1_000, writesMax: 1, itemsMax: 10_000 };

/** The ingest of the message store. `close` moves the checkpoints of topics a last time. */
export function mongoMessageIngest(
  connection: Connection,
  collections: MessageCollections,
  { clock, log }: { readonly clock: Clock; readonly log: Logger },
): MessageIngest & { close(): Promise<void> } {
  const merge = mongoRecordMerger(connection, collections, clock);
  const write = mongoMessageWriter(connection, collections, { clock, merge });
  const apply = writeBatcher(async (records: readonly PlacedRecord[]) => void (await write(records)), applyLimits);
  const settle = mongoReconcile({ connection, collections, clock, merge });
  const checkpoints = mongoCheckpoints(collections, (err) => log.warn({ err }, 'message counts were not moved'));
  const moveWatermarks = writeBatcher(async (moves: readonly WatermarkDocument[]) => {
    const operations = moves.map(({ _id, offset }) => ({
      updateOne: { filter: { _id }, update: { $max: { offset } }, upsert: true },
    }));
    await collections.watermarks.bulkWrite(operations, { ordered: false });
  }, watermarkLimits);
  /** The last batch of each partition, until the watermark has passed it. */
  const reconciled = new Map<number, readonly PlacedRecord[]>();
  return {
    apply: (records) =>
      mapUnavailable(async () => {
        if (records.length > 0) await apply(records);
      }),
    reconcile: (partition, records) =>
      mapUnavailable(async () => {
        const settled = await settle(partition, records);
        reconciled.set(partition, settled);
        return settled;
      }),
    watermark: (partition) => mapUnavailable(() => watermarkOf(collections, partition)),
    moveWatermark: (partition, offset) =>
      mapUnavailable(async () => {
        await moveWatermarks([{ _id: partition, offset }]);
        for (const placed of reconciled.get(partition) ?? [])
          if (placed.offset <= offset) checkpoints.add(placed.record.message.topicId, placed.offset);
        reconciled.delete(partition);
      }),
    close: () => checkpoints.close(),
  };
}
