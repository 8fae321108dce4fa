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
  const [log, messages, documents, queue, bus] = (await Promise.all(
    [engine.eventLog, engine.messages, engine.documents, engine.jobQueue, engine.bus].map(stateOf),
  )) as [PartState, PartState, PartState, PartState, PartState];
  const database = messages === 'ok' && documents === 'ok' ? 'ok' : 'down';
  const parts = { log, database, queue, bus } as const;
  return { status: leaving.aborted || Object.values(parts).includes('down') ? 'down' : 'ok', parts };
}

async function stateOf(part: { ping(): Promise<void> }): Promise<PartState> {
  const ping = Promise.resolve().then(() => part.ping());
  return within(pingTimeoutMs, 'a part’s answer', ping).then(
    () => 'ok',
    () => 'down',
  );
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
