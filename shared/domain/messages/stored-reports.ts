/** The pub/sub channel on which the fan-out reports to an API node that messages are stored. */
export function storedReportsChannel(nodeId: string): string {
  return `stored:${nodeId}`;
}

/** All records of the partition up to this offset, inclusive, are in the message store. */
export interface StoredReport {
  readonly partition: number;
  readonly upTo: number;
}
