import { setTimeout as pause } from 'node:timers/promises';
import { Registry } from 'prom-client';
import type { Engine } from '../ports/engine.ts';
import { startHealth } from './health.ts';
import { openEngine } from '../open-engine.ts';
import { packageVersion } from './package-version.ts';
import { collectGarbage } from '../platform/collect-garbage.ts';
import { collectProcessMetrics } from './process-metrics.ts';
import { systemClock, type Clock } from '../platform/clock.ts';
import { withClosers, type Closers } from '../platform/lifecycle.ts';
import { ConfigError, loadConfig, type Config } from '../platform/load-config.ts';
import { openLogger, type Logger } from '../platform/logger.ts';
import { runUntilSignal } from '../platform/run-until-signal.ts';
import { showQueues } from './show-queues.ts';
import { openTracing } from './tracing/open-tracing.ts';
import { tracedEngine } from './tracing/traced-engine.ts';
import type { Tracing } from './tracing/tracing.ts';

/** The dependencies of every service. */
export interface ServiceDeps {
  readonly engine: Engine;
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Logger;
  /** The metrics of the process, served on METRICS_PORT. */
  readonly metrics: Registry;
  readonly tracing: Tracing;
  /** Aborted when the shutdown begins. The process then reports that it is not ready, and serves until it is closed. */
  readonly leaving: AbortSignal;
}

/** A running service; `url` is its listening address, if any. */
export interface RunningService {
  readonly url?: string;
  close(): Promise<void>;
}

const usageExitCode = 2;

/**
 * Runs a service as a process: reads the configuration, opens the engine, starts the service, and logs `ready`. Serves
 * health and metrics on METRICS_PORT, if set. On SIGTERM, reports that it is not ready, serves for another
 * SHUTDOWN_DELAY_SECONDS, and closes. Exit codes: 0 after a clean close, 1 after a failure, 2 for an invalid
 * configuration.
 */
export async function runService(name: string, start: (deps: ServiceDeps) => Promise<RunningService>): Promise<void> {
  try {
    const config = loadConfig(process.env, '.env', name === 'tocsin' ? undefined : name);
    const { tracing, log } = await openObservability(name, config);
    const running = await withClosers((own: Closers) => {
      own.add(() => tracing.close()); // closed last, to trace the shutdown of the other components
      return open(own, { config, log, tracing, start });
    });
    runUntilSignal(running, log);
    log.info({ url: running.url }, 'ready');
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(error instanceof ConfigError ? usageExitCode : 1);
  }
}

/** Opens the logger, and tracing if configured. Log lines then contain the IDs of the active span. */
async function openObservability(name: string, config: Config): Promise<{ tracing: Tracing; log: Logger }> {
  const log = openLogger(name, config.LOG_LEVEL);
  const serviceName = name === 'tocsin' ? name : `tocsin-${name}`;
  const tracing = await openTracing(config, { process: { serviceName, version: packageVersion }, log });
  return {
    tracing,
    log: tracing.isEnabled ? openLogger(name, config.LOG_LEVEL, undefined, () => tracing.logFields()) : log,
  };
}

interface OpenOptions extends Pick<ServiceDeps, 'config' | 'log' | 'tracing'> {
  readonly start: (deps: ServiceDeps) => Promise<RunningService>;
}

async function open(own: Closers, { config, log, tracing, start }: OpenOptions): Promise<RunningService> {
  const opened = await openEngine(config, { clock: systemClock, log });
  own.add(() => opened.close());
  const engine = tracedEngine(opened, tracing, config);
  const metrics = new Registry();
  collectProcessMetrics(metrics);
  showQueues(metrics, engine.jobQueue);
  const leaving = new AbortController();
  const health = await startHealth({ engine, config, metrics, leaving: leaving.signal });
  own.add(() => health.close());
  await collectGarbage(); // before the service accepts requests
  const running = await start({ engine, config, clock: systemClock, log, metrics, tracing, leaving: leaving.signal });
  own.add(() => running.close());
  const close = async (): Promise<void> => {
    leaving.abort();
    if (running.url !== undefined) await pause(config.SHUTDOWN_DELAY_SECONDS * 1_000);
    await own.closeAll();
  };
  return { ...(running.url === undefined ? {} : { url: running.url }), close };
}
