import type { ServerResponse } from 'node:http';
import { responseDrained } from './response-drained.ts';
import type { StreamSink } from './stream-sink.ts';

export const ndjsonType = 'application/x-ndjson';

export const ndjsonHeaders = {
  'Content-Type': ndjsonType,
  'Cache-Control': 'no-cache',
  'X-Accel-Buffering': 'no',
} as const;

/** A client that does not take what was written within this time is cut off. Harm prevented: dead connections that keep a place and a feed. */
const takenWithinMs = 60_000;

/** The client's end of a stream of lines. Writing to one that is closed does nothing. */
export interface LineSink extends Pick<StreamSink, 'ping' | 'end' | 'cutOff' | 'isClosed' | 'onClose'> {
  /** Resolves when the client has taken the lines, or is gone. */
  write(lines: string): Promise<void>;
  /** All that was asked for is written. */
  finish(): void;
}

/**
 * Lines on an HTTP response; sends the headers at once. A stream that has no end of its own is ended as a whole; one that
 * was to come to an end is cut off before it, so that its reader does not take what came for all there is. A ping is an
 * empty line.
 */
export function ndjsonSink(response: ServerResponse, hasEnd: boolean): LineSink {
  response.writeHead(200, ndjsonHeaders);
  response.flushHeaders();
  response.socket?.setNoDelay(true);
  const isClosed = () => response.writableEnded || response.destroyed;
  return {
    async write(lines) {
      if (isClosed() || response.write(lines)) return;
      const timer = setTimeout(() => response.destroy(), takenWithinMs);
      await responseDrained(response);
      clearTimeout(timer);
    },
    finish() {
      if (!isClosed()) response.end();
    },
    ping() {
      if (!hasEnd && !isClosed() && !response.writableNeedDrain) response.write('\n');
    },
    end() {
      if (hasEnd) response.destroy();
      else response.end();
    },
    cutOff() {
      response.destroy();
    },
    get isClosed() {
      return isClosed();
    },
    onClose(listener) {
      if (response.destroyed) listener();
      else response.once('close', listener);
    },
  };
}
