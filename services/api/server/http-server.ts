import type { Server } from 'node:http';
import { Server as NetServer, type AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import type { Config } from '@tocsin/shared/platform/load-config.ts';
import { http } from '@tocsin/shared/platform/node-http.ts';
import { randomId } from '@tocsin/shared/platform/ids.ts';
import { endSocket } from './end-socket.ts';
import type { OpenRequests } from './open-requests.ts';

/** The total size of request headers; beyond it Node responds with 431. */
const headerBytesMax = 64 * 1024;
/** Disconnects clients that send headers or body slower than this, so that they do not hold sockets. */
const headersTimeoutMs = 15_000;
const requestTimeoutMs = 60_000;
/** The interval at which Node checks its connections. */
const timeoutsCheckedMs = 5_000;
/**
 * Longer than the minute for which proxies keep idle connections, to avoid a 502 for a request on a closing connection.
 */
const keepAliveTimeoutMs = 75_000;
/** Closes a connection on which nothing moves, for example if the client does not read. Longer than a long poll. */
const stalledTimeoutMs = 150_000;
/** The limit for requests in progress at a shutdown: longer than a publish waits for Kafka's leaders. */
const requestsMsMax = 18_000;
/** How long a stopping server accepts connections: with a constant stream of new ones, some always wait. */
const acceptMsMax = 1_000;
/** How long clients with open connections may still send requests, which are answered with `Connection: close`. */
const idleMs = 500;

/** A server with time limits, which responds with JSON to requests that Node rejects. */
export function createHttpServer(): Server {
  const server = http.createServer({
    maxHeaderSize: headerBytesMax,
    headersTimeout: headersTimeoutMs,
    requestTimeout: requestTimeoutMs,
    connectionsCheckingInterval: timeoutsCheckedMs,
    keepAliveTimeout: keepAliveTimeoutMs,
    requireHostHeader: false, // the application rejects it with JSON
    shouldUpgradeCallback: (request) => request.headers.upgrade?.toLowerCase() === 'websocket',
  });
  server.setTimeout(stalledTimeoutMs);
  server.on('clientError', answerClientError);
  return server;
}

/** Resolves with the server's URL once it listens. */
export async function listen(server: Server, config: Pick<Config, 'HOST' | 'PORT'>): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const why =
        cause.code === 'EADDRINUSE' ? 'is in use: set PORT to another one' : `cannot be listened on (${cause.code})`;
      reject(new Error(`${config.HOST}:${config.PORT} ${why}`, { cause }));
    });
    server.listen(config.PORT, config.HOST, 4_096, resolve);
  });
  const { address, port, family } = server.address() as AddressInfo;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}

/**
 * Accepts the connections that wait, then no more, and keeps open ones. `close` of an HTTP server would also close idle
 * ones, which may be receiving a request.
 */
export async function stopListening(server: Server): Promise<void> {
  await acceptWaiting(server);
  NetServer.prototype.close.call(server);
}

/**
 * Resolves when no connection waits to be accepted, or after a second. Closing would reset those that wait, and their
 * clients may have sent requests. Node accepts one connection per turn of the event loop.
 */
async function acceptWaiting(server: Server): Promise<void> {
  let accepted = 0;
  const count = () => (accepted += 1);
  server.on('connection', count);
  const deadline = performance.now() + acceptMsMax;
  for (let before = -1; before !== accepted && performance.now() < deadline;) {
    before = accepted;
    await nextTurn(); // can come before the sockets are polled
    await nextTurn();
  }
  server.off('connection', count);
}

/** Waits for requests in progress and for those being received, then closes the remaining connections. */
export async function finish(server: Server, requests: OpenRequests): Promise<void> {
  const isConnected = () => new Promise<boolean>((resolve) => server.getConnections((_, count) => resolve(count > 0)));
  for (let waitedMs = 0; waitedMs < requestsMsMax; waitedMs += 50) {
    if (requests.size === 0 && (waitedMs >= idleMs || !(await isConnected()))) break;
    await pause(50);
  }
  server.closeAllConnections();
  server.close(); // ends its timers
}

function answerClientError(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const [status, detail] =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? ['431 Request Header Fields Too Large', `The request headers must be at most ${headerBytesMax} bytes in all`]
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? ['408 Request Timeout', 'The request took too long to arrive']
        : ['400 Bad Request', 'The request is not valid HTTP'];
  const body = JSON.stringify({ detail });
  const head = [
    `HTTP/1.1 ${status}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'X-Content-Type-Options: nosniff',
    `X-Request-Id: ${randomId()}`,
    'Cache-Control: no-store',
    'Connection: close',
  ];
  endSocket(socket, `${head.join('\r\n')}\r\n\r\n${body}`);
}
