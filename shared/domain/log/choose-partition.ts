/** Returns the partition of a new topic. Topics spread evenly because the end of an ID is random. */
export function choosePartition(topicId: string, partitions: number): number {
  return Number.parseInt(topicId.slice(-8), 16) % partitions;
}
