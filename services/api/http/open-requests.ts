import type { ServerResponse } from 'node:http';

/** The requests in progress on this node, so that it can finish them before it stops. */
export class OpenRequests {
  readonly #responses = new Set<ServerResponse>();
  #isLeaving = false;

  get size(): number {
    return this.#responses.size;
  }

  add(response: ServerResponse): void {
    this.#responses.add(response);
    response.once('close', () => this.#responses.delete(response));
    if (this.#isLeaving) response.shouldKeepAlive = false;
  }

  /** Sends `Connection: close` with all further responses, so that no client loses a request on a closing connection. */
  leave(): void {
    this.#isLeaving = true;
    for (const response of this.#responses) response.shouldKeepAlive = false;
  }
}
