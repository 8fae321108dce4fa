import type { Registry } from 'prom-client';
import type { Engine } from '../ports/engine.ts';
import { startHealthServer } from '../platform/health-server.ts';
import type { Config } from '../platform/load-config.ts';
import { within } from '../async/within.ts';

export type PartState = 'ok' | 'down';

/** The body of `GET /health/ready`. */
export interface Readiness {
  /** `down` if a component is down or the process is shutting down. */
  readonly status: PartState;
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
 * Pings all components of the engine concurrently. Resolves within three seconds and never rejects. Reports `down` once
 * `leaving` is aborted.
 */
export async function checkReadiness(
  engine: Pick<Engine, 'eventLog' | 'messages' | 'documents' | 'jobQueue' | 'bus'>,
  leaving: Pick<AbortSignal, 'aborted'>,
): Promise<Readiness> {
  const [log, messages, documents, queue, bus] = await Promise.all([
    pingOf(engine.eventLog),
    pingOf(engine.messages),
    pingOf(engine.documents),
    pingOf(engine.jobQueue),
    pingOf(engine.bus),
  ]);
  const stateOf = (...answers: unknown[]): PartState => (answers.includes(null) ? 'down' : 'ok');
  const parts = {
    log: stateOf(log),
    database: stateOf(messages, documents),
    queue: stateOf(queue),
    bus: stateOf(bus),
  } as const;
  const unavailable = log?.unavailablePartitions ?? 0;
  return {
    status: leaving.aborted || Object.values(parts).includes('down') ? 'down' : 'ok',
    parts,
    ...(unavailable > 0 ? { unavailable_partitions: unavailable } : {}),
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
    checkReadiness: () => checkReadiness(engine, leaving),
    metrics,
  });
}
