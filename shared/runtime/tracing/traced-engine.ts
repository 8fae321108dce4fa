import type { Config } from '../../platform/load-config.ts';
import type { Engine } from '../../ports/engine.ts';
import { tracedEventLog } from './traced-event-log.ts';
import { tracedJobQueue } from './traced-job-queue.ts';
import type { Tracing } from './tracing.ts';

/**
 * Wraps the engine so that its log and job queue create spans and propagate traces. Returns the engine itself without
 * tracing.
 */
export function tracedEngine(engine: Engine, tracing: Tracing, { KAFKA_TOPIC }: Pick<Config, 'KAFKA_TOPIC'>): Engine {
  if (!tracing.isEnabled) return engine;
  const isCluster = engine.kind === 'cluster';
  return {
    ...engine,
    eventLog: tracedEventLog(engine.eventLog, { tracing, system: isCluster ? 'kafka' : 'tocsin', name: KAFKA_TOPIC }),
    jobQueue: tracedJobQueue(engine.jobQueue, { tracing, system: isCluster ? 'bullmq' : 'tocsin' }),
  };
}
