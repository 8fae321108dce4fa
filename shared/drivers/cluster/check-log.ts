import type { KafkaEventLog } from './kafka/kafka-event-log.ts';
import { baseOf, type SeenLog } from './mongo/mongo-log-base.ts';

/** What of an open log says whether it is the one that the store knows. */
export type OpenedLog = Pick<KafkaEventLog, 'clusterId' | 'partitions' | 'endsAtOpen'>;

/** How many partitions the store's topics may lie in. */
export function partitionsSeen({ known, watermarks }: SeenLog): number {
  return Math.max(known?.bases.length ?? 0, ...[...watermarks.keys()].map((partition) => partition + 1));
}

/** Why the log is not the one that the store is a view of, in words for the operator; null when it is. */
export function checkLog(seen: SeenLog, { clusterId, partitions, endsAtOpen }: OpenedLog): string | null {
  const { known, watermarks } = seen;
  if (known !== null && known.clusterId !== clusterId)
    return `the store knows the Kafka cluster ${known.clusterId}, and this one is ${clusterId}`;
  if (partitions < partitionsSeen(seen))
    return `it has ${partitions} partitions, and the store's topics lie in ${partitionsSeen(seen)}`;
  for (const [partition, position] of watermarks) {
    const end = baseOf(seen, partition) + (endsAtOpen.get(partition) ?? 0);
    if (end <= position)
      return `its partition ${partition} ends before position ${end}, and the store has seen position ${position}`;
  }
  return null;
}

/** Why a start refuses the log, with what to do; null when it is the one that the store is a view of. */
export function whyRefused(seen: SeenLog, log: OpenedLog, topic: string): string | null {
  const reason = checkLog(seen, log);
  if (reason === null) return null;
  return (
    `The Kafka topic ${topic} is not the log that the store knows: ${reason}. Check KAFKA_BROKERS, KAFKA_TOPIC and MONGO_URL. ` +
    'If the log was lost, made anew or moved: stop every node, run `tocsin log adopt`, and start them again'
  );
}

/** Refuses a log that is not the one that the store is a view of: it would hand out positions a second time. */
export function requireKnownLog(seen: SeenLog, log: OpenedLog, topic: string): void {
  const why = whyRefused(seen, log, topic);
  if (why !== null) throw new Error(why);
}
