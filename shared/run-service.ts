import { setTimeout as pause } from 'node:timers/promises';
import { collectDefaultMetrics, Registry } from 'prom-client';
import type { Engine } from './ports/engine.ts';
import { startHealth } from './health.ts';
import { openEngine } from './open-engine.ts';
import { systemClock, type Clock } from './platform/clock.ts';
import { withClosers, type Closers } from './platform/lifecycle.ts';
import { ConfigError, loadConfig, type Config } from './platform/load-config.ts';
import { openLog, type Log } from './platform/log.ts';
import { runUntilSignal } from './platform/run-until-signal.ts';
import { showQueues } from './show-queues.ts';

/** What every service starts from. */
export interface ServiceDeps {
  readonly engine: Engine;
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Log;
  /** The process's figures, shown on METRICS_PORT. */
  readonly metrics: Registry;
  /** Aborted when the process has been told to end: it is not ready from then on, and goes on serving until it is closed. */
  readonly leaving: AbortSignal;
}

/** A service that runs; `url` is where it listens, if it does. */
export interface RunningService {
  readonly url?: string;
  close(): Promise<void>;
}

const calledWrongly = 2;

/**
 * A service as a process of its own: configuration, engine, start, and a close on SIGTERM. Logs `ready` when it runs.
 * Health and figures are on METRICS_PORT where that is set, until the very end. On SIGTERM it says that it is not ready; what
 * listens goes on for SHUTDOWN_DELAY_SECONDS, and is closed then.
 * Exit codes: 0 after a clean close, 1 when it failed, 2 for a configuration that cannot be used.
 */
export async function runService(name: string, start: (deps: ServiceDeps) => Promise<RunningService>): Promise<void> {
  try {
    const config = loadConfig(process.env);
    const log = openLog(name, config.LOG_LEVEL);
    const running = await withClosers((own: Closers) => open(own, { config, log, start }));
    runUntilSignal(running, log);
    log.info({ url: running.url }, 'ready');
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(error instanceof ConfigError ? calledWrongly : 1);
  }
}

async function open(
  own: Closers, { config, log, start }: { config: Config; log: Log; start: (deps: ServiceDeps) => Promise<RunningService> },
): Promise<RunningService> {
  const engine = await openEngine(config, { clock: systemClock, log });
  own.add(() => engine.close());
  const metrics = new Registry();
  collectDefaultMetrics({ register: metrics });
  showQueues(metrics, engine.jobQueue);
  const leaving = new AbortController();
  const health = await startHealth({ engine, config, metrics, leaving: leaving.signal });
  own.add(() => health.close());
  const running = await start({ engine, config, clock: systemClock, log, metrics, leaving: leaving.signal });
  own.add(() => running.close());
  const close = async (): Promise<void> => {
    leaving.abort();
    if (running.url !== undefined) await pause(config.SHUTDOWN_DELAY_SECONDS * 1_000);
    await own.closeAll();
  };
  return { ...(running.url === undefined ? {} : { url: running.url }), close };
}
