import { once } from 'node:events';
import { createServer, request, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What a faulty server does with a request; null to pass it on. */
export type Fault = { readonly status: number; readonly code: string } | 'silence' | 'cut' | null;

/** A link to an S3 server that answers some requests itself. */
export interface FaultyS3 {
  readonly url: string;
  /** Sets what happens to the next requests. */
  fail(faultOf: (request: IncomingMessage) => Fault): void;
  close(): Promise<void>;
}

export async function startFaultyS3(target: string): Promise<FaultyS3> {
  let faultOf: (request: IncomingMessage) => Fault = () => null;
  const server = createServer((near, answer) => {
    const fault = faultOf(near);
    near.on('error', () => undefined); // expected for a cut request
    if (fault === 'silence') return void near.resume();
    // In the middle of the body.
    if (fault === 'cut') return void near.once('readable', () => near.destroy());
    if (fault !== null) {
      near.resume();
      answer.writeHead(fault.status, { 'content-type': 'application/xml' });
      return void answer.end(`<Error><Code>${fault.code}</Code><Message>secret-of-the-server</Message></Error>`);
    }
    const { method, url, headers } = near;
    const far = request(new URL(url!, target), { method: method!, headers }, (response) => {
      answer.writeHead(response.statusCode!, response.headers);
      response.pipe(answer);
    });
    far.on('error', () => answer.destroy());
    near.pipe(far);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    fail: (faults) => (faultOf = faults),
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
