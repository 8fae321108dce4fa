import type { ServerResponse } from 'node:http';
import { responseDrained } from './response-drained.ts';
import type { StreamSink } from './stream-sink.ts';

/** How long an EventSource waits before it reconnects, in milliseconds. */
const retryMs = 2_000;
/** On a restart clients reconnect spread over this time. */
const restartSpreadMs = 10_000;

export const sseHeaders = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  'Cache-Control': 'no-cache',
  'X-Accel-Buffering': 'no',
} as const;

const pingEvent = Buffer.from('event: ping\ndata:\n\n');

/** Server-Sent Events on an HTTP response. Sends the headers immediately. */
export function sseSink(response: ServerResponse): StreamSink {
  response.writeHead(200, sseHeaders);
  response.flushHeaders();
  response.socket?.setNoDelay(true);
  const write = (chunk: Buffer | string) => {
    if (!response.writableEnded && !response.destroyed) response.write(chunk);
  };
  return {
    ready(data, idLine) {
      // With an ID, so that a client that disconnects before its first message resumes from here.
      write(`retry: ${retryMs}\n${idLine.toString()}event: ready\ndata: ${JSON.stringify(data)}\n\n`);
    },
    deliver(delivery, idLine) {
      write(idLine === undefined ? delivery.sseEventWithId : Buffer.concat([idLine, delivery.sseEvent]));
    },
    ping() {
      write(pingEvent);
    },
    get bufferedBytes() {
      return response.writableLength;
    },
    drained() {
      return responseDrained(response);
    },
    end(reason) {
      if (reason === 'too-slow') {
        response.destroy();
        return;
      }
      if (reason === 'restart') write(`retry: ${Math.round(1_000 + Math.random() * restartSpreadMs)}\n\n`);
      response.end();
    },
    cutOff() {
      response.destroy();
    },
    get isClosed() {
      return response.writableEnded || response.destroyed;
    },
    onClose(listener) {
      if (response.destroyed) listener();
      else response.once('close', listener);
    },
  };
}
