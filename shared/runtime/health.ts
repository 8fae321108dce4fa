import type { Registry } from 'prom-client';
import type { Engine } from '../ports/engine.ts';
import { startHealthServer } from '../platform/health-server.ts';
import type { Config } from '../platform/load-config.ts';
import { within } from '../async/within.ts';

export type PartState = 'ok' | 'down';

/** What `GET /health/ready` answers. */
export interface Readiness {
  /** `down` when one of the parts is, and when the process has been told to end. */
  readonly status: PartState;
  readonly parts: {
    readonly log: PartState;
    readonly database: PartState;
    readonly queue: PartState;
    readonly bus: PartState;
  };
}

/** A part that has not answered by then counts as down. */
const patienceMs = 2_500;

/** Asks every part of the engine at once; resolves within three seconds, never rejects. Who is `leaving` is not ready, whatever they answer. */
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
  const answer = Promise.resolve().then(() => part.ping());
  return within(patienceMs, 'a part’s answer', answer).then(
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

/** Serves health and figures on METRICS_PORT; does nothing where that is not set. */
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
