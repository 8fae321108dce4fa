import type { ServerResponse } from 'node:http';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import type { TopicRecord } from '@tocsin/shared/ports/messages/message-reads.ts';
import { ndjsonSink, type LineSink } from './ndjson-sink.ts';
import { reserveStream, type StreamDeps, type StreamRequest } from './open-stream.ts';
import type { FeedUse } from './topic-feeds.ts';

/** Records per read. Limits the memory per stream to 2 MB for the longest texts. */
export const linesPerRead = 100;
/** Messages live longer than this, so a follower that read to the end this recently has lost nothing. */
const recentMs = 5_000;
/** The bytes written before waiting for the client; lines are not split. */
const charsPerWrite = 64 * 1024;

export type LogStreamDeps = Pick<StreamDeps, 'config' | 'feeds' | 'history' | 'log' | 'streams'>;

export interface LogStreamRequest extends Pick<StreamRequest, 'caller' | 'credential' | 'authorize'> {
  readonly topic: Topic;
  readonly from: number;
  /** The maximum of records to send. */
  readonly limit: number;
  /** Whether to continue with new records at the head. */
  readonly isFollowing: boolean;
  /** Returns the first records from the offset; throws the reason for refusing the stream. */
  readonly first: () => Promise<readonly TopicRecord[]>;
  /**
   * Returns the line about records that are gone between an offset and the records that were read from there, and the
   * offset after them, or null.
   */
  readonly gap: (from: number, records: readonly TopicRecord[]) => Promise<{ line: string; next: number } | null>;
  /** A record in wire format with its line terminator. */
  readonly line: (record: TopicRecord, topicName: string) => string;
  readonly response: ServerResponse;
}

/**
 * Streams a topic's records in order, each once, as lines. Reads further only when the client has received the previous
 * page, also live: a slow client lags and costs at most a page of memory. Throws before anything is sent: `limited`
 * for too many open streams, `unavailable`, and errors of `first`. Later failures destroy the stream.
 */
export async function streamLog(deps: LogStreamDeps, request: LogStreamRequest): Promise<void> {
  const slot = await reserveStream(deps, request.caller);
  const bell = newBell();
  let stopListening: () => void = () => undefined;
  let read: ReadRecords = (from, limit) => deps.history.records(request.topic, from, limit);
  let first: readonly TopicRecord[];
  let sink: LineSink;
  try {
    // The reader listens from here on: earlier records are in the store, which is read next.
    if (request.isFollowing) {
      const use = await deps.feeds.use(request.topic);
      stopListening = listen(use, bell);
      read = (from, limit) => use.feed.records(from, limit);
    }
    first = await request.first();
    sink = ndjsonSink(request.response, !request.isFollowing);
  } catch (error) {
    stopListening();
    slot.release();
    throw error;
  }
  let { name } = request.topic;
  sink.onClose(() => {
    stopListening();
    bell.ring();
  });
  deps.streams.add(slot, {
    sink,
    caller: request.caller,
    credential: request.credential,
    topicIds: [request.topic.id],
    authorize: () => request.authorize((topic) => (name = topic.name)),
  });
  try {
    await send(request, { sink, read, first, bell, line: (record) => request.line(record, name) });
  } catch (error) {
    deps.log.warn({ err: error }, 'log unreadable, ending a stream');
    request.response.destroy();
  }
}

function listen(use: FeedUse, bell: Bell): () => void {
  const stop = use.feed.listen(bell.ring);
  return () => {
    stop();
    use.release();
  };
}

type ReadRecords = (from: number, limit: number) => Promise<readonly TopicRecord[]>;

interface Sending {
  readonly sink: LineSink;
  readonly read: ReadRecords;
  readonly first: readonly TopicRecord[];
  readonly bell: Bell;
  readonly line: (record: TopicRecord) => string;
}

async function send(
  { from, limit, isFollowing, gap: gapBefore }: LogStreamRequest,
  { sink, read, first, bell, line }: Sending,
): Promise<void> {
  let next = from;
  let left = limit;
  /** When the last read began, if it reached the end. */
  let endReadAt = -Infinity;
  let readAt = performance.now();
  for (let page = first; ; page = await read(next, Math.min(left, linesPerRead))) {
    // The bell has rung for every record that the feed has delivered since this read began.
    const isAtEnd = page.length < Math.min(left, linesPerRead);
    const isRecent = performance.now() - endReadAt < recentMs;
    const gap = isRecent ? null : await gapBefore(next, page);
    endReadAt = isAtEnd ? readAt : -Infinity;
    if (gap !== null) {
      await sink.write(gap.line);
      next = gap.next;
    }
    if (page.length > 0) {
      await writeLines(sink, page, line);
      next = page.at(-1)!.offset + 1;
      left -= page.length;
    }
    if (left <= 0 || (page.length === 0 && !isFollowing)) break;
    if (isAtEnd && isFollowing) await bell.rung();
    if (sink.isClosed) break;
    readAt = performance.now();
  }
  sink.finish();
}

async function writeLines(
  sink: LineSink,
  page: readonly TopicRecord[],
  line: (record: TopicRecord) => string,
): Promise<void> {
  let lines = '';
  for (const record of page) {
    lines += line(record);
    if (lines.length < charsPerWrite) continue;
    await sink.write(lines);
    lines = '';
  }
  if (lines !== '') await sink.write(lines);
}

/** Signals a reader that there may be new records, also if they arrived while it was busy. */
interface Bell {
  readonly ring: () => void;
  /** Resolves once a signal arrived since the last call. */
  rung(): Promise<void>;
}

function newBell(): Bell {
  let hasRung = false;
  let wake: () => void = () => undefined;
  return {
    ring() {
      hasRung = true;
      wake();
    },
    async rung() {
      if (!hasRung) await new Promise<void>((resolve) => (wake = resolve));
      hasRung = false;
    },
  };
}
