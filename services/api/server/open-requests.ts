import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** How many requests may wait for their turn on all connections; each takes about 5 kB. */
const waitingMax = 10_000;

interface Waiting {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly serve: RequestListener;
}

/**
 * The requests in progress on this node: one at a time per connection. Node itself starts all pipelined requests (RFC
 * 9112 §9.3.2) of a connection immediately and keeps their responses in memory.
 */
export class OpenRequests {
  readonly #responses = new Set<ServerResponse>();
  /** Connections with a request in progress, and the requests that wait for it. */
  readonly #waiting = new WeakMap<Socket, Waiting[]>();
  #waitingCount = 0;
  #isLeaving = false;

  /** The number of requests in progress. */
  get size(): number {
    return this.#responses.size;
  }

  /**
   * Calls `serve` when all earlier requests of the connection are answered, and stops reading from the connection until
   * then. Closes the connection if 10,000 requests are waiting on the node.
   */
  add(request: IncomingMessage, response: ServerResponse, serve: RequestListener): void {
    const { socket } = request;
    const waiting = this.#waiting.get(socket);
    if (waiting === undefined) {
      this.#waiting.set(socket, []);
      this.#start({ request, response, serve });
      return;
    }
    if (this.#waitingCount === waitingMax) {
      socket.destroy();
      return;
    }
    this.#waitingCount += 1;
    waiting.push({ request, response, serve });
    stopReading(socket);
  }

  /**
   * Sends `Connection: close` with all further responses, so that no client loses a request on a closing connection.
   */
  leave(): void {
    this.#isLeaving = true;
    for (const response of this.#responses) response.shouldKeepAlive = false;
  }

  #start({ request, response, serve }: Waiting): void {
    this.#responses.add(response);
    response.once('close', () => {
      this.#responses.delete(response);
      this.#startNext(request.socket);
    });
    if (this.#isLeaving) response.shouldKeepAlive = false;
    serve(request, response);
  }

  #startNext(socket: Socket): void {
    const waiting = this.#waiting.get(socket)!;
    if (waiting.length === 0 || !socket.writable) {
      this.#waitingCount -= waiting.length;
      this.#waiting.delete(socket);
      return;
    }
    this.#waitingCount -= 1;
    const next = waiting.shift()!;
    if (waiting.length === 0) socket.resume();

    this.#start(next);
  }
}

/**
 * Pauses the socket after the current events: Node resumes it at the end of each received request
 * (`parserOnMessageComplete` in its `_http_common.js`).
 */
function stopReading(socket: Socket): void {
  queueMicrotask(() => socket.pause());
}
