/**
 * The broker's name of a consumer group. Groups belong to a Kafka cluster and not to a topic: without the topic in it,
 * two installations on one cluster would be members of one group, and neither would be given all its partitions.
 */
export function kafkaGroupId(topic: string, group: string): string {
  return `${topic}.${group}`;
}
