import { Registry } from 'prom-client';
import { pushQueues, receiptsQueue } from '@tocsin/shared/domain/push/push-job.ts';
import type { Platform } from '@tocsin/shared/domain/push/device.ts';
import { notifierGroup } from '@tocsin/shared/domain/log/log-groups.ts';
import type { Engine } from '@tocsin/shared/ports/engine.ts';
import type { Clock } from '@tocsin/shared/platform/clock.ts';
import { QuietSpans } from '@tocsin/shared/platform/daily-hours.ts';
import type { MakeId } from '@tocsin/shared/platform/ids.ts';
import { closeTogether, withClosers } from '@tocsin/shared/platform/lifecycle.ts';
import type { Config } from '@tocsin/shared/platform/load-config.ts';
import type { Logger } from '@tocsin/shared/platform/logger.ts';
import { showLag } from '@tocsin/shared/runtime/show-lag.ts';
import { untraced, type Tracing } from '@tocsin/shared/runtime/tracing/tracing.ts';
import { expandMessages } from './expand-message.ts';
import { notifiedTimes } from './sending/notified-times.ts';
import type { PushDeps, PushLimits } from './sending/push-deps.ts';
import { openPushGateways } from './providers/open-push-gateways.ts';
import { sendTimeoutMs, type PushGateway } from './providers/push-gateway.ts';
import { tracedGateway } from './providers/traced-gateway.ts';
import { watchProvider, type WatchedGateway } from './providers/watch-provider.ts';
import { pushMetrics } from './sending/push-metrics.ts';
import { refusalReport } from './sending/refusal-report.ts';
import { runPushJob } from './jobs/run-push-job.ts';
import { startMailWorker } from './mail/start-mail-worker.ts';

export interface NotifierOptions {
  readonly engine: Engine;
  readonly config: Config;
  readonly log: Logger;
  readonly clock: Clock;
  readonly makeId: MakeId;
  /** Where the public reaches the API, and where mails lead. Without a slash at the end. */
  readonly baseUrl: string;
  readonly appUrl: string;
  /** Where figures are shown; they are counted for nobody without it. */
  readonly metrics?: Registry;
  readonly tracing?: Tracing;
  /** Instead of those that the configuration has what it takes for; closed with the notifier. */
  readonly gateways?: ReadonlyMap<Platform, PushGateway>;
  /** In one process with an API: it keeps fewer ordinary pushes under way then, whose bursts would hold up the publishes. */
  readonly isBesideApi?: boolean;
  /** For tests, which cannot wait for an hour. */
  readonly limits?: Partial<PushLimits>;
}

/**
 * Jobs at a time, each mostly waiting for the store and its provider; so few that no claim grows stale waiting for its turn there.
 * Four ordinary ones beside an API doubled the median of its publishes and sent no faster (measured).
 */
const concurrencyOf = ({ isBesideApi = false }: Pick<NotifierOptions, 'isBesideApi'>) => ({
  [pushQueues.urgent]: 4,
  [pushQueues.normal]: isBesideApi ? 2 : 4,
  [receiptsQueue]: 1,
});

function limitsOf(config: Pick<Config, 'PUSH_RETRY_SECONDS' | 'EXPO_RECEIPT_SECONDS'>): PushLimits {
  return {
    pageSize: 500,
    claimStaleMs: sendTimeoutMs + 2_000,
    backoffMs: 2_000,
    retryForMs: config.PUSH_RETRY_SECONDS * 1_000,
    receiptAfterMs: config.EXPO_RECEIPT_SECONDS * 1_000,
    renewalMs: 10_000,
  };
}

function watchProviders(
  gateways: ReadonlyMap<Platform, PushGateway>,
  { clock, log, metrics, tracing }: Pick<PushDeps, 'clock' | 'log' | 'metrics' | 'tracing'>,
): Map<Platform, WatchedGateway> {
  return new Map(
    [...gateways].map(([platform, gateway]) => {
      const onChange = (isAway: boolean): void => metrics.away.set({ platform }, Number(isAway));
      onChange(false);
      return [platform, watchProvider(tracedGateway(gateway, platform, tracing), { platform, clock, log, onChange })];
    }),
  );
}

/**
 * Starts the notifier: makes jobs of new messages, and works them and the mails off. Any number of them share the work. Close takes
 * no further work, waits for the batches under way, and closes nothing that it did not open.
 */
export async function startNotifier(options: NotifierOptions): Promise<{ close(): Promise<void> }> {
  const { engine, clock, log } = options;
  return withClosers(async (own) => {
    const gateways = options.gateways ?? (await openPushGateways(options.config, { clock }));
    for (const gateway of gateways.values()) own.add(() => gateway.close());
    const registry = options.metrics ?? new Registry();
    const metrics = pushMetrics(registry);
    showLag(registry, engine.eventLog, notifierGroup);
    const times = notifiedTimes({ documents: engine.documents, log });
    own.add(() => times.close());
    const closing = new AbortController();
    const tracing = options.tracing ?? untraced;
    const deps: PushDeps = {
      engine,
      clock,
      log,
      metrics,
      tracing,
      gateways: watchProviders(gateways, { clock, log, metrics, tracing }),
      notifiedTimes: times,
      quietSpans: new QuietSpans(),
      reportRefusal: refusalReport({ clock, log }),
      makeId: options.makeId,
      random: Math.random,
      limits: { ...limitsOf(options.config), ...options.limits },
      closing: closing.signal,
    };
    const workers: { close(): Promise<void> }[] = [];
    own.add(() => closeTogether(workers));
    for (const [queue, jobsMax] of Object.entries(concurrencyOf(options))) {
      const worker = await engine.jobQueue.work(queue, { concurrency: jobsMax, run: (job) => runPushJob(deps, job) });
      workers.push({ close: () => worker.close(sendTimeoutMs) });
    }
    workers.push(await startMailWorker({ ...options, jobQueue: engine.jobQueue, documents: engine.documents }));
    const consumption = await engine.eventLog.consume({
      group: notifierGroup,
      onBatch: (batch) => expandMessages({ engine, clock }, batch),
    });
    own.add(() => consumption.close());
    own.add(() => closing.abort());
    return { close: () => own.closeAll() };
  });
}
