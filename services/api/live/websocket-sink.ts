import type { WebSocket } from 'ws';
import type { EndReason, StreamSink } from './stream-sink.ts';

const closeCodes: Readonly<Record<EndReason, number>> = {
  'credential-ended': 4401,
  'access-lost': 4403,
  'topic-deleted': 4404,
  'too-slow': 4008,
  restart: 1012,
};

const pingFrame = JSON.stringify({ type: 'ping' });

/** JSON frames on a WebSocket. */
export function websocketSink(socket: WebSocket): StreamSink {
  const write = (frame: Buffer | string, sent?: () => void) => {
    if (socket.readyState === socket.OPEN) socket.send(frame, { binary: false }, sent);
    else sent?.();
  };
  return {
    ready(data) {
      write(JSON.stringify({ type: 'ready', ...data }));
    },
    deliver(delivery) {
      write(delivery.frame);
    },
    ping() {
      write(pingFrame);
      if (socket.readyState === socket.OPEN) socket.ping();
    },
    get bufferedBytes() {
      return socket.bufferedAmount;
    },
    drained() {
      if (socket.bufferedAmount === 0 || socket.readyState !== socket.OPEN) return Promise.resolve();
      return new Promise((resolve) => {
        const done = () => {
          socket.off('close', done);
          resolve();
        };
        socket.on('close', done);
        // A ping is received after all earlier data.
        socket.ping(undefined, false, done);
      });
    },
    end(reason) {
      // After buffered data, so that a slow client learns the reason when it reads further; `ws` waits at most 30
      // seconds.
      socket.close(closeCodes[reason], reason);
    },
    cutOff() {
      socket.terminate();
    },
    get isClosed() {
      return socket.readyState !== socket.OPEN;
    },
    onClose(listener) {
      if (socket.readyState === socket.CLOSED) listener();
      else socket.once('close', listener);
    },
  };
}
