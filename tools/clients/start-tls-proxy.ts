import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeCertificate } from './make-certificate.ts';

export interface TlsProxy {
  readonly port: number;
  /** The proxy's certificate, which clients must trust. */
  readonly certificateFile: string;
  close(): Promise<void>;
}

/** A minimal reverse proxy: HTTPS on 127.0.0.1 with a self-signed certificate, HTTP to the server. */
export const startTlsProxy = async (
  target: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<TlsProxy> => {
  const dir = mkdtempSync(join(tmpdir(), 'tocsin-tls-'));
  const { keyFile, certificateFile } = await makeCertificate(dir);
  const server = createServer(
    { key: readFileSync(keyFile), cert: readFileSync(certificateFile) },
    (incoming, response) => {
      const onward = request(
        target + incoming.url!,
        { method: incoming.method!, headers: { ...incoming.headers, ...headers } },
        (answer) => {
          response.writeHead(answer.statusCode!, answer.headers);
          answer.pipe(response);
        },
      );
      onward.on('error', () => response.destroy());
      incoming.pipe(onward);
    },
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    certificateFile,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      rmSync(dir, { recursive: true, force: true });
    },
  };
};
