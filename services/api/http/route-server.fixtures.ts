import { once } from 'node:events';
import { createServer, type ServerOptions } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll } from '@jest/globals';
import { openLogger, type Logger } from '@tocsin/shared/platform/logger.ts';
import { untraced } from '@tocsin/shared/runtime/tracing/tracing.ts';
import type { Route } from './route.ts';
import { runRoute, type RouteDeps } from './run-route.ts';

export interface RouteServerOptions extends ServerOptions {
  readonly log?: Logger;
  /** Called after each request with its CPU time in microseconds. */
  readonly onCpuTime?: (us: number) => void;
}

/** Serves one route without limits, at any path, during the tests of a file. Returns a function for its URL. */
export function useRouteServer(
  route: Route,
  { log = openLogger('test', 'silent'), onCpuTime, ...serverOptions }: RouteServerOptions = {},
): () => string {
  const deps = { clock: Date.now, clientAddress: () => '', requestMetrics: () => undefined, log, tracing: untraced };
  const server = createServer(serverOptions, (request, response) => {
    const before = process.cpuUsage();
    void runRoute(deps as unknown as RouteDeps, route, request, response).then(() => {
      const { user, system } = process.cpuUsage(before);
      onCpuTime?.(user + system);
    });
  });
  beforeAll(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterAll(async () => {
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  });
  return () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
