import type { KafkaEventLog } from './kafka/kafka-event-log.ts';
import { baseOf, type RecordedLog } from './mongo/mongo-log-base.ts';

/** The properties of an open log that identify it. */
export type OpenedLog = Pick<KafkaEventLog, 'clusterId' | 'partitions' | 'endsAtOpen'>;

/** Returns the number of partitions that the store's topics may use. */
export function partitionsSeen({ known, watermarks }: RecordedLog): number {
  return Math.max(known?.bases.length ?? 0, ...[...watermarks.keys()].map((partition) => partition + 1));
}

/** Returns why the log does not belong to the store, as text for the operator; null if it belongs. */
export function checkLog(seen: RecordedLog, { clusterId, partitions, endsAtOpen }: OpenedLog): string | null {
  const { known, watermarks } = seen;
  if (known !== null && known.clusterId !== clusterId)
    return `the store belongs to the Kafka cluster ${known.clusterId}, but this one is ${clusterId}`;
  if (partitions < partitionsSeen(seen))
    return `it has ${partitions} partitions, but the store's topics use ${partitionsSeen(seen)}`;
  for (const [partition, offset] of watermarks) {
    const end = baseOf(seen, partition) + (endsAtOpen.get(partition) ?? 0);
    if (end <= offset)
      return `its partition ${partition} ends before offset ${end}, but the store contains offset ${offset}`;
  }
  return null;
}

/** Returns why a start rejects the log, with a remedy; null if it belongs to the store. */
export function rejectionReason(seen: RecordedLog, log: OpenedLog, topic: string): string | null {
  const reason = checkLog(seen, log);
  if (reason === null) return null;
  return (
    `The Kafka topic ${topic} is not the log of this store: ${reason}. Check KAFKA_BROKERS, KAFKA_TOPIC and MONGO_URL. ` +
    'If the log was lost, recreated or moved: stop all nodes, run `tocsin log adopt`, and start them again'
  );
}

/** Rejects a log that does not belong to the store, because it would assign offsets twice. */
export function requireKnownLog(seen: RecordedLog, log: OpenedLog, topic: string): void {
  const why = rejectionReason(seen, log, topic);
  if (why !== null) throw new Error(why);
}
