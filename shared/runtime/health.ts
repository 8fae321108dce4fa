import type { Registry } from 'prom-client';
import type { Engine } from '../ports/engine.ts';
import { startHealthServer } from './health-server.ts';
import type { Config } from '../platform/load-config.ts';
import { within } from '../async/within.ts';

export type PartState = 'ok' | 'down';

/** The body of `GET /health/ready`. */
export interface Readiness {
  /** `down` if a component is down for longer than the grace, or the process is shutting down. */
  readonly status: PartState;
  /** The present state of each component, without grace. */
  readonly parts: {
    readonly log: PartState;
    readonly database: PartState;
    readonly queue: PartState;
    readonly bus: PartState;
  };
  /**
   * Partitions of the log that accept no records at present; absent without such partitions. The node serves the
   * others.
   */
  readonly unavailable_partitions?: number;
}

/** A component without a response after this time counts as down. */
const pingTimeoutMs = 2_500;

/**
 * A component that was up does not make the process unready for this time. Its failover affects all nodes alike, and a
 * load balancer that removed them all would also refuse what they can serve. MongoDB elects a primary after up to 12 s
 * by default, which is the longest.
 */
export const readinessGraceMs = 15_000;

export interface ReadinessOptions {
  readonly engine: Pick<Engine, 'eventLog' | 'messages' | 'documents' | 'jobQueue' | 'bus'>;
  /** Once it is aborted, the process is not ready. */
  readonly leaving: Pick<AbortSignal, 'aborted'>;
  /** Monotonic milliseconds. Default: `performance.now`. */
  readonly nowMs?: () => number;
}

/**
 * Returns a check that pings all components of the engine concurrently. It resolves within three seconds and never
 * rejects. The grace of a component begins with the first check that finds it down after one that found it up.
 */
export function readinessCheck({
  engine,
  leaving,
  nowMs = () => performance.now(),
}: ReadinessOptions): () => Promise<Readiness> {
  // A component that was never up has no grace: the process has not been ready yet.
  const downSince = { log: -Infinity, database: -Infinity, queue: -Infinity, bus: -Infinity };
  const lacks = (name: keyof Readiness['parts'], state: PartState): boolean => {
    const now = nowMs();
    downSince[name] = state === 'ok' ? Infinity : Math.min(downSince[name], now);
    return now - downSince[name] >= readinessGraceMs;
  };
  return async () => {
    const { parts, unavailable } = await pingAll(engine);
    const lacking = (['log', 'database', 'queue', 'bus'] as const).filter((name) => lacks(name, parts[name]));
    return {
      status: leaving.aborted || lacking.length > 0 ? 'down' : 'ok',
      parts,
      ...(unavailable > 0 ? { unavailable_partitions: unavailable } : {}),
    };
  };
}

async function pingAll(
  engine: ReadinessOptions['engine'],
): Promise<{ readonly parts: Readiness['parts']; readonly unavailable: number }> {
  const [log, messages, documents, queue, bus] = await Promise.all([
    pingOf(engine.eventLog),
    pingOf(engine.messages),
    pingOf(engine.documents),
    pingOf(engine.jobQueue),
    pingOf(engine.bus),
  ]);
  const stateOf = (...answers: unknown[]): PartState => (answers.includes(null) ? 'down' : 'ok');
  return {
    parts: {
      log: stateOf(log),
      database: stateOf(messages, documents),
      queue: stateOf(queue),
      bus: stateOf(bus),
    },
    unavailable: log?.unavailablePartitions ?? 0,
  };
}

/** Returns the component's answer; null if it is down. */
async function pingOf<T>(part: { ping(): Promise<T> }): Promise<T | null> {
  const ping = Promise.resolve().then(() => part.ping());
  return within(pingTimeoutMs, 'a part’s answer', ping).catch(() => null);
}

export interface HealthOptions {
  readonly engine: Engine;
  readonly config: Pick<Config, 'HOST' | 'METRICS_PORT'>;
  readonly metrics: Registry;
  readonly leaving: AbortSignal;
}

/** Serves health and metrics on METRICS_PORT; does nothing if it is not set. */
export async function startHealth({
  engine,
  config,
  metrics,
  leaving,
}: HealthOptions): Promise<{ close(): Promise<void> }> {
  if (config.METRICS_PORT === undefined) return { close: async () => undefined };
  return startHealthServer({
    host: config.HOST,
    port: config.METRICS_PORT,
    checkReadiness: readinessCheck({ engine, leaving }),
    metrics,
  });
}
