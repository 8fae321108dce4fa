import type { Duplex } from 'node:stream';
import { corkThisTurn } from '@tocsin/shared/async/cork-this-turn.ts';
import type { WebSocket } from 'ws';
import type { Delivery } from './delivery.ts';
import type { EndReason, StreamSink } from './stream-sink.ts';

const closeCodes: Readonly<Record<EndReason, number>> = {
  'credential-ended': 4401,
  'access-lost': 4403,
  'topic-deleted': 4404,
  'too-slow': 4008,
  restart: 1012,
};

const pingFrame = JSON.stringify({ type: 'ping' });

/** JSON frames on a WebSocket, which uses the socket. */
export class WebSocketSink implements StreamSink {
  readonly #webSocket: WebSocket;
  readonly #socket: Duplex;

  constructor(webSocket: WebSocket, socket: Duplex) {
    this.#webSocket = webSocket;
    this.#socket = socket;
  }

  ready(data: Readonly<Record<string, unknown>>): void {
    this.#send(JSON.stringify({ type: 'ready', ...data }));
  }

  /** Writes the prepared frame: `ws` would create and write a header for each client. It writes whole frames, too. */
  deliver(delivery: Delivery): void {
    if (this.isClosed) return;
    corkThisTurn(this.#socket);
    this.#socket.write(delivery.frame);
  }

  position(id: string): void {
    this.#send(JSON.stringify({ type: 'position', id }));
  }

  ping(): void {
    this.#send(pingFrame);
    if (!this.isClosed) this.#webSocket.ping();
  }

  get bufferedBytes(): number {
    return this.#webSocket.bufferedAmount;
  }

  drained(): Promise<void> {
    const webSocket = this.#webSocket;
    if (webSocket.bufferedAmount === 0 || this.isClosed) return Promise.resolve();
    return new Promise((resolve) => {
      const done = () => {
        webSocket.off('close', done);
        resolve();
      };
      webSocket.on('close', done);
      // A ping is received after all earlier data.
      webSocket.ping(undefined, false, done);
    });
  }

  /**
   * After buffered data, so that a slow client learns the reason when it reads further; `ws` waits at most 30 seconds.
   */
  end(reason: EndReason): void {
    this.#webSocket.close(closeCodes[reason], reason);
  }

  cutOff(): void {
    this.#webSocket.terminate();
  }

  get isClosed(): boolean {
    return this.#webSocket.readyState !== this.#webSocket.OPEN;
  }

  onClose(listener: () => void): void {
    if (this.#webSocket.readyState === this.#webSocket.CLOSED) listener();
    else this.#webSocket.once('close', listener);
  }

  #send(frame: string): void {
    if (!this.isClosed) this.#webSocket.send(frame, { binary: false });
  }
}
