import type { ServerResponse } from 'node:http';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import { scanMatches, type Scan, type ScanRequest } from '@tocsin/shared/operations/messages/scan-matches.ts';
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

/** `limit`: the maximum of records to send. */
export interface LogStreamRequest
  extends Pick<StreamRequest, 'caller' | 'credential' | 'authorize'>, ScanRequest<TopicRecord> {
  readonly topic: Topic;
  /** Reads the records from an offset; by default those that every reader gets. */
  readonly read?: ReadRecords;
  /** Whether to continue with new records at the head. */
  readonly isFollowing: boolean;
  /** Reads the first records from the offset; throws the reason for refusing the stream. */
  readonly first: () => Promise<Scan<TopicRecord>>;
  /**
   * Returns the line about records that are gone between an offset and the first record that was read from there, and
   * the offset after them, or null.
   */
  readonly gap: (from: number, first: TopicRecord | null) => Promise<{ line: string; next: number } | null>;
  /** The line that tells a filtered reader where to continue. */
  readonly position: (next: number) => string;
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
  let read = request.read ?? ((from, limit) => deps.history.records(request.topic, from, limit));
  let first: Scan<TopicRecord>;
  let sink: LineSink;
  try {
    // The reader listens from here on: earlier records are in the store, which is read next.
    if (request.isFollowing) {
      const use = await deps.feeds.use(request.topic);
      stopListening = listen(use, bell);
      read = request.read ?? ((from, limit) => use.feed.records(from, limit));
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
  const place: Place = { next: request.from, told: request.from };
  const tellPosition = async () => {
    const { next, told } = place;
    if (next <= told) return;
    place.told = next;
    await sink.write(request.position(next));
  };
  deps.streams.add(slot, {
    sink,
    ping() {
      if (request.isFollowing) void tellPosition();
      sink.ping();
    },
    caller: request.caller,
    credential: request.credential,
    topicIds: [request.topic.id],
    authorize: () => request.authorize((topic) => (name = topic.name)),
  });
  try {
    await send(request, { sink, read, first, bell, place, line: (record) => request.line(record, name) });
    await tellPosition();
    sink.finish();
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

/** Where a reader continues, and the offset that it can tell from the lines that it got. */
interface Place {
  next: number;
  told: number;
}

interface Sending {
  readonly sink: LineSink;
  readonly read: ReadRecords;
  readonly first: Scan<TopicRecord>;
  readonly bell: Bell;
  readonly place: Place;
  readonly line: (record: TopicRecord) => string;
}

async function send(
  { limit, matches, isFollowing, gap: gapBefore }: LogStreamRequest,
  { sink, read, first, bell, place, line }: Sending,
): Promise<void> {
  let left = limit;
  /** When the last read began, if it reached the end. */
  let endReadAt = -Infinity;
  let readAt = performance.now();
  const readOn = () => scanMatches(read, { from: place.next, limit: Math.min(left, linesPerRead), matches });
  for (let scan = first; ; scan = await readOn()) {
    const isRecent = performance.now() - endReadAt < recentMs;
    const gap = isRecent ? null : await gapBefore(place.next, scan.first);
    // The bell has rung for every record that the feed has delivered since this read began.
    endReadAt = scan.isAtEnd ? readAt : -Infinity;
    if (gap !== null) {
      await sink.write(gap.line);
      place.next = place.told = gap.next;
    }
    if (scan.found.length > 0) {
      await writeLines(sink, scan.found, line);
      place.told = scan.found.at(-1)!.offset + 1;
      left -= scan.found.length;
    }
    if (scan.first !== null) place.next = scan.next;
    if (left <= 0 || (scan.first === null && !isFollowing)) break;
    if (scan.isAtEnd && isFollowing) await bell.rung();
    if (sink.isClosed) break;
    readAt = performance.now();
  }
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
