/** The partition of a new topic: they spread evenly, since the end of an id is random. */
export function choosePartition(topicId: string, partitions: number): number {
  return Number.parseInt(topicId.slice(-8), 16) % partitions;
}
