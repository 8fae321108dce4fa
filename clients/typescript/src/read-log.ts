import type { Connection } from './connection.ts';
import type { Gap, LogRecord } from './schemas.ts';
import { readLines } from './parse-events.ts';
import { readStream } from './read-stream.ts';
import { filterParameters, type TopicFilter } from './topic-filter.ts';

export interface LogOptions {
  /** The first offset, or a time (ISO 8601 or Date). 0 by default. */
  readonly from?: number | string | Date;
  /** The number of records; all by default. */
  readonly limit?: number;
  /** Continue with new records instead of ending with the last one. */
  readonly follow?: boolean;
  readonly filter?: TopicFilter;
  readonly signal?: AbortSignal;
}

/** Records that were gone before they were read. */
export type GapEntry = Gap & { readonly type: 'gap' };

/** Where to continue after records that the filter left out. */
export interface PositionEntry {
  readonly type: 'position';
  readonly next_offset: number;
}

export type LogEntry = LogRecord | GapEntry | PositionEntry;

export const isRecord = (entry: LogEntry): entry is LogRecord => entry.type !== 'gap' && entry.type !== 'position';

/** The offset to continue with after an entry. */
export function nextOffset(entry: LogEntry): number {
  if (entry.type === 'position') return entry.next_offset;
  return isRecord(entry) ? entry.offset + 1 : entry.to_offset;
}

/** Reads the log of a topic as NDJSON. Reconnects and resumes after the last record, without gaps or duplicates. */
export function readLog(
  connection: Connection,
  topic: string,
  { from = 0, limit = Infinity, follow = false, filter, signal }: LogOptions,
): AsyncGenerator<LogEntry, void> {
  let next = typeof from === 'number' ? from : null;
  let left = limit;
  const start = typeof from === 'object' ? from.toISOString() : String(from);
  return readStream<LogEntry>(connection, {
    accept: 'application/x-ndjson',
    isEndless: follow,
    signal,
    path: () =>
      `/api/topics/${encodeURIComponent(topic)}/log?${new URLSearchParams({
        ...(next === null ? { from_time: start } : { from_offset: String(next) }),
        ...(follow && { follow: 'true' }),
        ...(left < Infinity && { limit: String(left) }),
        ...filterParameters(filter),
      })}`,
    async *parse(texts) {
      for await (const line of readLines(texts)) {
        if (line === '') continue;
        const entry = JSON.parse(line) as LogEntry;
        next = nextOffset(entry);
        if (isRecord(entry)) left -= 1;
        yield entry;
        if (left === 0) return;
      }
    },
  });
}
