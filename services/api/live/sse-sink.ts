import type { ServerResponse } from 'node:http';
import type { StreamSink } from './stream-sink.ts';

/** How long an EventSource waits before it reconnects, in milliseconds. */
const retryMs = 2_000;
/** On a restart clients come back spread over this time. */
const restartSpreadMs = 10_000;

const pingEvent = Buffer.from('event: ping\ndata:\n\n');

/** Server-Sent Events on an HTTP response. Sends the headers at once. */
export function sseSink(response: ServerResponse): StreamSink {
  response.writeHead(200, {
    'Content-Type': 'text/event-stream; charset=utf-8',
    'Cache-Control': 'no-cache',
    'X-Accel-Buffering': 'no',
  });
  response.flushHeaders();
  response.socket?.setNoDelay(true);
  const write = (chunk: Buffer | string) => {
    if (!response.writableEnded && !response.destroyed) response.write(chunk);
  };
  return {
    ready(data) {
      write(`retry: ${retryMs}\nevent: ready\ndata: ${JSON.stringify(data)}\n\n`);
    },
    deliver(delivery, position) {
      if (position === undefined) {
        write(delivery.sseEventWithId);
      } else {
        write(Buffer.concat([Buffer.from(`id: ${position}\n`), delivery.sseEvent]));
      }
    },
    ping() {
      write(pingEvent);
    },
    get bufferedBytes() {
      return response.writableLength;
    },
    drained() {
      if (!response.writableNeedDrain || response.destroyed) return Promise.resolve();
      return new Promise((resolve) => {
        const done = () => {
          response.off('drain', done);
          response.off('close', done);
          resolve();
        };
        response.on('drain', done);
        response.on('close', done);
      });
    },
    end(reason) {
      if (reason === 'too-slow') {
        response.destroy();
        return;
      }
      if (reason === 'restart') write(`retry: ${Math.round(1_000 + Math.random() * restartSpreadMs)}\n\n`);
      response.end();
    },
    get isClosed() {
      return response.writableEnded || response.destroyed;
    },
    onClose(listener) {
      response.once('close', listener);
    },
  };
}
