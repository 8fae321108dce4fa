import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The requests to paths other than `/hanging`, which gets no response. Times are milliseconds since the epoch. */
export interface ReceiverTally {
  readonly count: number;
  readonly firstAt: number;
  readonly lastAt: number;
  /** From the time in the message, if it has one, to the arrival. */
  readonly delaysMs: readonly number[];
}

/** A receiver of sinks as a process: reports its port, and on each message the requests since the last one. */
let [count, firstAt, lastAt]: [number, number, number] = [0, 0, 0];
let delaysMs: number[] = [];

const server = createServer((request, response) => {
  let body = '';
  request.setEncoding('utf8');
  request.on('data', (part: string) => (body += part));
  request.on('end', () => {
    if (request.url === '/hanging') return;
    lastAt = Date.now();
    if (count++ === 0) firstAt = lastAt;
    const sentAt = /"sent (\d+)"/.exec(body);
    if (sentAt !== null) delaysMs.push(lastAt - Number(sentAt[1]));
    response.writeHead(204).end();
  });
});

process.on('message', () => {
  process.send!({ count, firstAt, lastAt, delaysMs } satisfies ReceiverTally);
  count = 0;
  delaysMs = [];
});
process.on('disconnect', () => process.exit());
server.listen(0, '127.0.0.1', () => process.send!((server.address() as AddressInfo).port));
