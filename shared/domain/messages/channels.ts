import type { LogRecord } from './log-record.ts';

/** The bus channel that carries a topic's live records. */
export function topicChannel(topicId: string): string {
  return `topic:${topicId}`;
}

/** The key that a topic's open streams are counted under. */
export function topicConnections(topicId: string): string {
  return `topic:${topicId}`;
}

/** What a topic's channel carries: a record, its position, and the position of the topic's record before it. */
export interface Envelope {
  readonly offset: number;
  /** Null for the first record that the store knows of. A reader that is not there yet has missed something. */
  readonly previousOffset: number | null;
  readonly record: LogRecord;
}
