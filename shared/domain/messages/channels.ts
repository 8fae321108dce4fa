import type { LogRecord } from './log-record.ts';

/** The pub/sub channel of a topic's live records. */
export function topicChannel(topicId: string): string {
  return `topic:${topicId}`;
}

/** The key under which a topic's open streams are counted. */
export function topicConnections(topicId: string): string {
  return `topic:${topicId}`;
}

/** A payload of a topic's channel: a record, its offset, and the offset of the topic's previous record. */
export interface Envelope {
  readonly offset: number;
  /** Null for the first record in the store. A reader whose last offset is lower has missed records. */
  readonly previousOffset: number | null;
  readonly record: LogRecord;
}
