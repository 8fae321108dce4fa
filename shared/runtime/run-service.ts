import { setTimeout as pause } from 'node:timers/promises';
import { collectDefaultMetrics, Registry } from 'prom-client';
import type { Engine } from '../ports/engine.ts';
import { startHealth } from './health.ts';
import { openEngine } from '../open-engine.ts';
import { packageVersion } from './package-version.ts';
import { systemClock, type Clock } from '../platform/clock.ts';
import { withClosers, type Closers } from '../platform/lifecycle.ts';
import { ConfigError, loadConfig, type Config } from '../platform/load-config.ts';
import { openLogger, type Logger } from '../platform/logger.ts';
import { runUntilSignal } from '../platform/run-until-signal.ts';
import { showQueues } from './show-queues.ts';
import { openTracing } from './tracing/open-tracing.ts';
import { tracedEngine } from './tracing/traced-engine.ts';
import type { Tracing } from './tracing/tracing.ts';

/** What every service starts from. */
export interface ServiceDeps {
  readonly engine: Engine;
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Logger;
  /** The process's figures, shown on METRICS_PORT. */
  readonly metrics: Registry;
  readonly tracing: Tracing;
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
    const { tracing, log } = await openWatching(name, config);
    const running = await withClosers((own: Closers) => {
      own.add(() => tracing.close()); // the last to be closed: what the others do at their end is traced, too
      return open(own, { config, log, tracing, start });
    });
    runUntilSignal(running, log);
    log.info({ url: running.url }, 'ready');
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(error instanceof ConfigError ? calledWrongly : 1);
  }
}

/** The log, and tracing where it is asked for: then lines bear the ids of the span that they are written in. */
async function openWatching(name: string, config: Config): Promise<{ tracing: Tracing; log: Logger }> {
  const log = openLogger(name, config.LOG_LEVEL);
  const serviceName = name === 'tocsin' ? name : `tocsin-${name}`;
  const tracing = await openTracing(config, { process: { serviceName, version: packageVersion }, log });
  return {
    tracing,
    log: tracing.isOn ? openLogger(name, config.LOG_LEVEL, undefined, () => tracing.logFields()) : log,
  };
}

interface Opening extends Pick<ServiceDeps, 'config' | 'log' | 'tracing'> {
  readonly start: (deps: ServiceDeps) => Promise<RunningService>;
}

async function open(own: Closers, { config, log, tracing, start }: Opening): Promise<RunningService> {
  const opened = await openEngine(config, { clock: systemClock, log });
  own.add(() => opened.close());
  const engine = tracedEngine(opened, tracing, config);
  const metrics = new Registry();
  collectDefaultMetrics({ register: metrics });
  showQueues(metrics, engine.jobQueue);
  const leaving = new AbortController();
  const health = await startHealth({ engine, config, metrics, leaving: leaving.signal });
  own.add(() => health.close());
  const running = await start({ engine, config, clock: systemClock, log, metrics, tracing, leaving: leaving.signal });
  own.add(() => running.close());
  const close = async (): Promise<void> => {
    leaving.abort();
    if (running.url !== undefined) await pause(config.SHUTDOWN_DELAY_SECONDS * 1_000);
    await own.closeAll();
  };
  return { ...(running.url === undefined ? {} : { url: running.url }), close };
}
