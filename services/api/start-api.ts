import type { RequestListener, Server } from 'node:http';
import type { Engine } from '@tocsin/shared/ports/engine.ts';
import type { Clock } from '@tocsin/shared/platform/clock.ts';
import { idSource } from '@tocsin/shared/platform/ids.ts';
import { withClosers, type Closers } from '@tocsin/shared/platform/lifecycle.ts';
import { isShortAdminToken, type Config } from '@tocsin/shared/platform/load-config.ts';
import type { Logger } from '@tocsin/shared/platform/logger.ts';
import { RecentMetrics, type RecentMetricsDeps } from '@tocsin/shared/runtime/recent-metrics.ts';
import { untraced, type Tracing } from '@tocsin/shared/runtime/tracing/tracing.ts';
import { openPasswords, type Passwords } from '@tocsin/shared/operations/accounts/passwords.ts';
import { combineAuditEntries } from '@tocsin/shared/operations/audit/combine-audit-entries.ts';
import { History } from '@tocsin/shared/operations/messages/history.ts';
import { Gauge, Registry } from 'prom-client';
import { accessTokens } from './http/access-tokens.ts';
import type { ApiDeps } from './api-deps.ts';
import { app } from './app.ts';
import { startDelivering } from './features/publishing/scheduled/start-delivering.ts';
import { Directory } from './directory/directory.ts';
import { topicListings } from './directory/topic-listings.ts';
import { topicSpans } from './directory/topic-spans.ts';
import { recordRefusedOperator } from './access/failed-logins.ts';
import { clientAddress, wholeAddress } from './http/client-address.ts';
import { rateLimits } from './http/rate-limit.ts';
import { requestCeiling } from './http/request-ceiling.ts';
import { limitConnections } from './server/limit-connections.ts';
import { createHttpServer, finish, listen, stopListening } from './server/http-server.ts';
import { OpenRequests } from './server/open-requests.ts';
import { announcesTooMuch } from './http/read-body.ts';
import { requestMetrics } from './http/request-metrics.ts';
import { OpenStreams } from './live/open-streams.ts';
import { StreamFilters } from './live/filtering/stream-filters.ts';
import { StreamBudget } from './live/stream-budget.ts';
import { OpenWaits } from './live/open-waits.ts';
import { StreamSessions } from './live/stream-sessions.ts';
import { TopicFeeds } from './live/topic-feeds.ts';
import { FanOutStore } from './storing/fan-out-store.ts';
import { inlineStore, storedByLog, type InlineStore } from './storing/inline-store.ts';
import { upgrades } from './upgrade.ts';
import { usageRecorder } from './http/usage-recorder.ts';

/** On shutdown streams are ended over this time, and their clients have the same time to close. */
const drain = { overMs: 2_000, graceMs: 2_000 } as const;

export interface RunningApi {
  /** The listening URL, for example `http://127.0.0.1:8080`. */
  readonly url: string;
  close(): Promise<void>;
}

export interface ApiOptions {
  readonly engine: Engine;
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Logger;
  /** Shared password hashing, which the node does not close. Default: its own. */
  readonly passwords?: Passwords;
  /** The registry for the node's metrics. */
  readonly metrics?: Registry;
  readonly tracing?: Tracing;
  /** Aborted when the node starts to close and is no longer ready. */
  readonly leaving?: AbortSignal;
}

/**
 * Starts an API node on the configured HOST and PORT (0: a free one). Resolves once it listens. Close accepts no new
 * connections, ends streams in waves, finishes requests in progress, and then destroys the remaining connections.
 */
export function startApi(options: ApiOptions): Promise<RunningApi> {
  const { config, clock, log } = options;
  const engine = { ...options.engine, documents: combineAuditEntries(options.engine.documents, clock) };
  if (!config.RATE_LIMITS) log.warn('RATE_LIMITS is off: clients can flood this node and guess passwords');
  if (isShortAdminToken(config.ADMIN_TOKEN))
    log.warn('ADMIN_TOKEN is too short: anyone who guesses it gets operator access');
  return withClosers(async (own) => {
    const makeId = idSource(clock);
    const parts = await openParts(own, options, makeId);
    const { streams } = parts;
    const passwords = options.passwords ?? ownPasswords(own);
    const leaving = new AbortController();
    options.leaving?.addEventListener('abort', () => leaving.abort(), { once: true });
    const [waits, requests] = [new OpenWaits(), new OpenRequests()];
    const server = createHttpServer();
    const metrics = options.metrics ?? new Registry();
    limitConnections(server, { config, metrics, log });
    // No await from here to `serveRequests`, so no request arrives without its handlers.
    const url = await listen(server, config);
    own.add(() => finish(server, requests));
    const baseUrl = config.BASE_URL ?? url;
    const deps: ApiDeps = {
      engine,
      config,
      ...parts,
      waits,
      makeId,
      clock,
      log,
      leaving: leaving.signal,
      baseUrl,
      appUrl: config.APP_URL ?? baseUrl,
      accessTokens: accessTokens(engine.jwtSecrets, clock),
      rateLimits: rateLimits({ bus: engine.bus, directory: parts.directory, isOn: config.RATE_LIMITS }),
      requestCeiling: requestCeiling(config.RATE_LIMITS ? config.MAX_REQUESTS_PER_MINUTE : Infinity),
      clientAddress: clientAddress(config.TRUST_PROXY),
      wholeAddress: wholeAddress(config.TRUST_PROXY),
      adminToken: config.ADMIN_TOKEN,
      recordRefusedOperator: (refused) => recordRefusedOperator(deps, refused),
      topicSpans: topicSpans(engine.storage),
      topicListings: topicListings(engine.storage),
      passwords,
      metrics,
      recentMetrics: config.ADMIN_TOKEN === undefined ? null : openRecentMetrics(own, { engine, metrics, clock }),
      requestMetrics: requestMetrics(metrics),
      tracing: options.tracing ?? untraced,
    };
    countStreams(deps);
    own.add(() => streams.endAll(drain));
    const delivering = startDelivering(deps);
    own.add(() => delivering.close());
    // First, accept no new connections, so that disconnected clients connect to another node.
    own.add(async () => {
      leaving.abort();
      await stopListening(server);
      // After that, because it makes clients open new connections, which the end of listening would reset.
      requests.leave();
      waits.endAll();
    });
    serveRequests(server, deps, requests);
    return { url, close: () => own.closeAll() };
  });
}

/** Opens the parts of the node that hold state. They close in reverse order. */
async function openParts(
  own: Closers,
  { engine, clock, log }: ApiOptions,
  makeId: () => string,
): Promise<
  Pick<
    ApiDeps,
    | 'history'
    | 'directory'
    | 'usage'
    | 'feeds'
    | 'streamSessions'
    | 'streams'
    | 'streamBudget'
    | 'streamFilters'
    | 'inlineStore'
  >
> {
  const history = new History(engine.messages, clock);
  const directory = new Directory({ ...engine, log });
  own.add(await directory.start());
  const usage = usageRecorder({ documents: engine.documents, log });
  own.add(() => usage.close());
  const feeds = new TopicFeeds({ bus: engine.bus, directory, history, log, clock });
  own.add(() => feeds.close());
  const streamSessions = new StreamSessions({ documents: engine.documents, directory, clock, log });
  own.add(() => streamSessions.close());
  const streamBudget = new StreamBudget({ log });
  own.add(() => streamBudget.close());
  const nodeId = makeId();
  const streams = new OpenStreams({ bus: engine.bus, clock, directory, log, nodeId });
  own.add(() => streams.close());
  const store = await openInlineStore(own, { engine, log }, nodeId);
  return {
    history,
    directory,
    usage,
    feeds,
    streamSessions,
    streams,
    streamBudget,
    streamFilters: new StreamFilters(),
    inlineStore: store,
  };
}

async function openInlineStore(
  own: Closers,
  { engine: { kind, messages, bus }, log }: Pick<ApiOptions, 'engine' | 'log'>,
  nodeId: string,
): Promise<InlineStore> {
  if (kind === 'embedded') return storedByLog;
  const monotonic = () => performance.now();
  const direct = inlineStore({ messages, clock: monotonic, log });
  const store = new FanOutStore({ bus, nodeId, direct, clock: monotonic, log });
  own.add(await store.start());
  return store;
}

function serveRequests(server: Server, deps: ApiDeps, requests: OpenRequests): void {
  const serve = app(deps);
  server.on('request', (request, response) => requests.add(request, response, serve));
  const serveContinue: RequestListener = (request, response) => {
    // Do not ask for a body that will be rejected.
    if (!announcesTooMuch(request)) response.writeContinue();
    serve(request, response);
  };
  server.on('checkContinue', (request, response) => requests.add(request, response, serveContinue));
  // Other expectations may be ignored (RFC 9110 §10.1.1).
  server.on('checkExpectation', (request, response) => requests.add(request, response, serve));
  server.on('upgrade', upgrades(deps));
}

function openRecentMetrics(own: Closers, deps: RecentMetricsDeps): RecentMetrics {
  const recent = new RecentMetrics(deps);
  own.add(() => recent.close());
  return recent;
}

function ownPasswords(own: Closers): Passwords {
  const passwords = openPasswords();
  own.add(() => passwords.close());
  return passwords;
}

function countStreams({
  metrics,
  streams,
  streamBudget,
  feeds,
}: Pick<ApiDeps, 'metrics' | 'streams' | 'streamBudget' | 'feeds'>): void {
  new Gauge({
    name: 'tocsin_open_streams',
    help: 'Open SSE and WebSocket streams of this node',
    registers: [metrics],
    collect() {
      this.set(streams.size);
    },
  });
  new Gauge({
    name: 'tocsin_stream_buffer_bytes',
    help: 'Bytes that the streams of this node buffer for their clients',
    registers: [metrics],
    collect() {
      this.set(streamBudget.bytes);
    },
  });
  new Gauge({
    name: 'tocsin_silent_partitions',
    help: 'Partitions with streams on this node whose fan-out sends no beats; their streams read the store',
    registers: [metrics],
    collect() {
      this.set(feeds.silentPartitions);
    },
  });
}
