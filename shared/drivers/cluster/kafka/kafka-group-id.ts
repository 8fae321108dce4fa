/**
 * Returns the consumer group's ID on the broker. Groups belong to a Kafka cluster, not to a topic: without the topic
 * name, two installations on one cluster would share a group, and neither would get all its partitions.
 */
export function kafkaGroupId(topic: string, group: string): string {
  return `${topic}.${group}`;
}
