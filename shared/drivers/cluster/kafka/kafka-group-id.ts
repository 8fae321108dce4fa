/**
 * Returns the consumer group's ID on the broker. It contains the topic's name, because groups belong to a Kafka
 * cluster: two installations on one cluster would otherwise share a group, and neither would get all of its partitions.
 */
export function kafkaGroupId(topic: string, group: string): string {
  return `${topic}.${group}`;
}
