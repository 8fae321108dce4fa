import type { ServerResponse } from 'node:http';

/** The requests that this node has not finished answering, so that they can be before it ends. */
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

  /** Tells whoever is answered from now on not to use the connection again (`Connection: close`), so that nobody loses a request on one that is being closed. */
  leave(): void {
    this.#isLeaving = true;
    for (const response of this.#responses) response.shouldKeepAlive = false;
  }
}
