import type { ServerResponse } from 'node:http';
import { responseDrained } from './response-drained.ts';
import type { StreamSink } from './stream-sink.ts';

export const ndjsonType = 'application/x-ndjson';

export const ndjsonHeaders = {
  'Content-Type': ndjsonType,
  'Cache-Control': 'no-cache',
  'X-Accel-Buffering': 'no',
} as const;

/** Disconnects clients that do not read within this time, so that dead connections do not hold a slot and a feed. */
const takenWithinMs = 60_000;

/** The client's end of a stream of lines. Writing after the close has no effect. */
export interface LineSink extends Pick<StreamSink, 'ping' | 'end' | 'cutOff' | 'isClosed' | 'onClose'> {
  /** Resolves when the client has received the lines or disconnected. */
  write(lines: string): Promise<void>;
  /** All requested records are written. */
  finish(): void;
}

/**
 * Lines on an HTTP response; sends the headers immediately. An unlimited stream ends with a complete response. A
 * limited stream that ends early is destroyed, so that its reader notices the missing part. A ping is an empty line.
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
