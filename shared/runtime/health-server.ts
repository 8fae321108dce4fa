import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Registry } from 'prom-client';
import { metricsText } from './metrics-text.ts';
import { http } from '../platform/node-http.ts';

export interface HealthServerOptions {
  /** Port 0 selects a free port. */
  readonly host: string;
  readonly port: number;
  /** The body of `/health/ready`; 503 if its status is not `ok`. */
  readonly checkReadiness: () => Promise<{ readonly status: 'ok' | 'down' }>;
  readonly metrics: Registry;
}

/**
 * Serves `GET /health/live`, `/health/ready` and `/metrics` for services without other HTTP endpoints. Resolves with
 * the server's address once it listens; rejects if it cannot listen.
 */
export async function startHealthServer(
  options: HealthServerOptions,
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const renderMetrics = metricsText(options.metrics);
  const server = http.createServer((request, response) => {
    const path = request.url?.split('?', 1)[0];
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return answerJson(response, 405, { detail: 'Method not allowed' }, { Allow: 'GET, HEAD' });
    respond({ ...options, renderMetrics }, path, response).catch((error: unknown) => response.destroy(error as Error));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, resolve);
  });
  const { address, port, family } = server.address() as AddressInfo;
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function respond(
  options: HealthServerOptions & { readonly renderMetrics: () => Promise<string> },
  path: string | undefined,
  response: ServerResponse,
): Promise<void> {
  switch (path) {
    case '/health/live':
      return answerJson(response, 200, { status: 'ok' });
    case '/health/ready': {
      const readiness = await options.checkReadiness();
      return answerJson(response, readiness.status === 'ok' ? 200 : 503, readiness);
    }
    case '/metrics': {
      const text = await options.renderMetrics();
      response.writeHead(200, { ...headers, 'Content-Type': options.metrics.contentType }).end(text);
      return;
    }
    default:
      return answerJson(response, 404, { detail: 'Not found' });
  }
}

const headers = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' };

function answerJson(response: ServerResponse, status: number, body: object, more: Record<string, string> = {}): void {
  response.writeHead(status, { ...headers, ...more, 'Content-Type': 'application/json' }).end(JSON.stringify(body));
}
