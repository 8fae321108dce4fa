import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach } from '@jest/globals';

/** A request that the receiver got. */
export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** The parsed body. */
  // oxlint-disable-next-line typescript/no-explicit-any -- a test asserts what it finds
  readonly event: any;
}

/** Answers a request; by default with 204. A function that does not end the response lets the sender wait. */
export type Respond = (response: ServerResponse, request: Received) => void;

export interface Receiver {
  readonly url: string;
  /** All requests in the order of their arrival. */
  readonly requests: readonly Received[];
  /** The highest number of requests at the same time. */
  readonly concurrencyMax: () => number;
  respond(by: Respond): void;
  close(): Promise<void>;
}

const accept: Respond = (response) => void response.writeHead(204).end();

/** Starts a receiver of sinks on the loopback interface. */
async function startReceiver(respond: Respond = accept): Promise<Receiver> {
  const requests: Received[] = [];
  let by = respond;
  let open = 0;
  let most = 0;
  const server = createServer((request, response) => {
    open += 1;
    most = Math.max(most, open);
    response.on('close', () => (open -= 1));
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const body = Buffer.concat(parts).toString();
      const received = { path: request.url!, headers: request.headers, body, event: JSON.parse(body) as unknown };
      requests.push(received);
      by(response, received);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    concurrencyMax: () => most,
    respond: (next) => void (by = next),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Receivers that close after each test. */
export function useReceivers(): { start(respond?: Respond): Promise<Receiver> } {
  const started: Receiver[] = [];
  afterEach(async () => {
    for (const receiver of started.splice(0)) await receiver.close();
  });
  return {
    async start(respond) {
      const receiver = await startReceiver(respond);
      started.push(receiver);
      return receiver;
    },
  };
}
