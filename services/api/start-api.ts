import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import type { Engine } from '@tocsin/shared/ports/engine.ts';
import type { Clock } from '@tocsin/shared/platform/clock.ts';
import { idSource, randomId } from '@tocsin/shared/platform/ids.ts';
import { withClosers, type Closers } from '@tocsin/shared/platform/lifecycle.ts';
import type { Config } from '@tocsin/shared/platform/load-config.ts';
import type { Log } from '@tocsin/shared/platform/log.ts';
import { openPasswords, type Passwords } from '@tocsin/shared/stores/passwords.ts';
import { History } from '@tocsin/shared/stores/history.ts';
import { Gauge, Registry } from 'prom-client';
import { accessTokens } from './http/access-tokens.ts';
import type { ApiDeps } from './api-deps.ts';
import { app } from './app.ts';
import { Directory } from './directory/directory.ts';
import { topicListings } from './directory/topic-listings.ts';
import { topicSpans } from './directory/topic-spans.ts';
import { clientAddress, wholeAddress } from './http/client-address.ts';
import { rateLimits } from './http/rate-limit.ts';
import { announcesTooMuch } from './http/read-body.ts';
import { requestMetrics } from './http/request-metrics.ts';
import { OpenStreams } from './live/open-streams.ts';
import { StreamSessions } from './live/stream-sessions.ts';
import { TopicFeeds } from './live/topic-feeds.ts';
import { upgrades } from './upgrade.ts';
import { usageRecorder } from './http/usage-recorder.ts';

/** Request headers in all; beyond it Node answers 431. */
const headerBytesMax = 64 * 1024;
/** A client that sends its headers or body slower than this is cut off. Harm prevented: sockets held by slow senders. */
const headersTimeoutMs = 15_000;
const requestTimeoutMs = 60_000;
/** How late that may be: Node looks at its connections this often. */
const timeoutsCheckedMs = 5_000;
/** Proxies keep idle connections for a minute. Harm prevented: a request on one that is being closed here, a 502 there. */
const keepAliveTimeoutMs = 75_000;
/** Streams are ended over this time on shutdown. */
const drainMs = 2_000;

export interface RunningApi {
  /** Where it listens, for example `http://127.0.0.1:8080`. */
  readonly url: string;
  close(): Promise<void>;
}

/** Starts an API node on the configuration's HOST and PORT (0: a free one). Resolves once it listens. */
export function startApi(options: { engine: Engine; config: Config; clock: Clock; log: Log; passwords?: Passwords; metrics?: Registry }): Promise<RunningApi> {
  const { engine, config, clock, log } = options;
  if (!config.RATE_LIMITS) log.warn('RATE_LIMITS is off: nobody is kept from flooding this node or from guessing passwords');
  return withClosers(async (own) => {
    const makeId = idSource(clock);
    const history = new History(engine.messages, clock);
    const directory = new Directory({ documents: engine.documents, bus: engine.bus, clock, log });
    own.add(await directory.start());
    const usage = usageRecorder({ documents: engine.documents, log });
    own.add(() => usage.close());
    const feeds = new TopicFeeds({ bus: engine.bus, directory, history, log });
    own.add(() => feeds.close());
    const streamSessions = new StreamSessions({ documents: engine.documents, directory, clock, log });
    own.add(() => streamSessions.close());
    const streams = new OpenStreams({ bus: engine.bus, clock, directory, log, nodeId: makeId() });
    own.add(() => streams.close());
    const server = createServer({
      maxHeaderSize: headerBytesMax, headersTimeout: headersTimeoutMs, requestTimeout: requestTimeoutMs, connectionsCheckingInterval: timeoutsCheckedMs,
      keepAliveTimeout: keepAliveTimeoutMs,
      requireHostHeader: false, // refused by us, in JSON
      shouldUpgradeCallback: (request) => request.headers.upgrade?.toLowerCase() === 'websocket',
    });
    // The handlers are there before the first request is: nothing is awaited between this and `server.on`.
    const url = await listen(server, config);
    own.add(() => cutOff(server));
    const baseUrl = config.BASE_URL ?? url;
    const metrics = options.metrics ?? new Registry();
    const deps: ApiDeps = {
      engine, config, history, feeds, streams, streamSessions, directory, usage, makeId, clock, log, baseUrl, appUrl: config.APP_URL ?? baseUrl,
      accessTokens: accessTokens(engine.jwtSecrets, clock),
      rateLimits: rateLimits({ bus: engine.bus, directory, isOn: config.RATE_LIMITS }),
      clientAddress: clientAddress(config.TRUST_PROXY), wholeAddress: wholeAddress(config.TRUST_PROXY),
      adminToken: config.ADMIN_TOKEN,
      topicSpans: topicSpans(engine.documents), topicListings: topicListings(engine.documents),
      passwords: options.passwords ?? ownPasswords(own),
      metrics, requestMetrics: requestMetrics(metrics),
    };
    countStreams(deps);
    own.add(() => streams.endAll(drainMs));
    // First of all nobody new is let in: whoever is cut off now connects to another node.
    own.add(() => stopListening(server));
    const serve = app(deps);
    server.on('request', serve);
    server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
      // A body that will not be read need not be sent.
      if (!announcesTooMuch(request)) response.writeContinue();
      serve(request, response);
    });
    server.on('checkExpectation', serve); // of what else is expected nothing is promised (RFC 9110 §10.1.1)
    server.on('upgrade', upgrades(deps));
    server.on('clientError', answerClientError);
    return { url, close: () => own.closeAll() };
  });
}

function ownPasswords(own: Closers): Passwords {
  const passwords = openPasswords();
  own.add(() => passwords.close());
  return passwords;
}

function countStreams({ metrics, streams }: Pick<ApiDeps, 'metrics' | 'streams'>): void {
  new Gauge({
    name: 'tocsin_open_streams', help: 'Open SSE and WebSocket streams of this node', registers: [metrics],
    collect() {
      this.set(streams.size);
    },
  });
}

async function listen(server: Server, config: Config): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const why = cause.code === 'EADDRINUSE' ? 'is in use: set PORT to another one' : `cannot be listened on (${cause.code})`;
      reject(new Error(`${config.HOST}:${config.PORT} ${why}`, { cause }));
    });
    server.listen(config.PORT, config.HOST, 4_096, resolve);
  });
  const { address, port, family } = server.address() as AddressInfo;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}

function stopListening(server: Server): void {
  server.close();
  server.closeIdleConnections();
}

/** Lets requests that are under way finish, and then ends what is still connected. */
async function cutOff(server: Server): Promise<void> {
  server.closeIdleConnections();
  const isIdle = () => new Promise<boolean>((resolve) => server.getConnections((_, count) => resolve(count === 0)));
  for (let waitedMs = 0; waitedMs < drainMs && !(await isIdle()); waitedMs += 50) await pause(50);
  server.closeAllConnections();
}

/** What Node refuses by itself is told in JSON, too. */
function answerClientError(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const [status, detail] = error.code === 'HPE_HEADER_OVERFLOW'
    ? ['431 Request Header Fields Too Large', `The request headers must be at most ${headerBytesMax} bytes in all`]
    : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
      ? ['408 Request Timeout', 'The request took too long to arrive']
      : ['400 Bad Request', 'The request is not valid HTTP'];
  const body = JSON.stringify({ detail });
  const head = [
    `HTTP/1.1 ${status}`, 'Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`, 'X-Content-Type-Options: nosniff',
    `X-Request-Id: ${randomId()}`, 'Cache-Control: no-store', 'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}
