import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { decodeOtlpTraces, type ReceivedSpan } from './decode-otlp-traces.ts';

export interface OtlpReceiver {
  /** For OTEL_EXPORTER_OTLP_ENDPOINT. */
  readonly url: string;
  /** All received spans, in order of arrival. */
  readonly spans: readonly ReceivedSpan[];
  /** The headers of each request. */
  readonly headers: readonly IncomingHttpHeaders[];
  /** Switches between returning 503 and accepting spans. */
  setUnavailable(isUnavailable: boolean): void;
  close(): Promise<void>;
}

/** An OTLP/HTTP collector for protobuf that decodes spans. Returns 400 for an invalid body. */
export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = [];
  const headers: IncomingHttpHeaders[] = [];
  let isUnavailable = false;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      headers.push(request.headers);
      if (isUnavailable) return response.writeHead(503).end();
      const isTraces =
        request.method === 'POST' &&
        request.url === '/v1/traces' &&
        request.headers['content-type'] === 'application/x-protobuf';
      if (!isTraces) return response.writeHead(404).end();
      try {
        const body = Buffer.concat(chunks);
        spans.push(...decodeOtlpTraces(request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body));
        // An empty message: nothing was rejected.
        return response.writeHead(200, { 'Content-Type': 'application/x-protobuf' }).end();
      } catch (error) {
        return response.writeHead(400).end(String(error));
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    headers,
    setUnavailable(value) {
      isUnavailable = value;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
