import { Registry } from 'prom-client';
import { pushQueues, receiptsQueue } from '@tocsin/shared/domain/push/push-job.ts';
import type { Platform } from '@tocsin/shared/domain/push/device.ts';
import { retentionDaysOf } from '@tocsin/shared/domain/accounts/tiers.ts';
import { notifierGroup } from '@tocsin/shared/domain/log/log-groups.ts';
import { smallPageSize } from '@tocsin/shared/ports/deliveries.ts';
import type { Engine } from '@tocsin/shared/ports/engine.ts';
import type { Clock } from '@tocsin/shared/platform/clock.ts';
import { QuietSpans } from '@tocsin/shared/platform/daily-hours.ts';
import type { MakeId } from '@tocsin/shared/platform/ids.ts';
import { closeConcurrently, withClosers } from '@tocsin/shared/platform/lifecycle.ts';
import type { Config } from '@tocsin/shared/platform/load-config.ts';
import type { Logger } from '@tocsin/shared/platform/logger.ts';
import { History } from '@tocsin/shared/operations/messages/history.ts';
import { sinkPolicyOf } from '@tocsin/shared/platform/sink-urls.ts';
import { showLag } from '@tocsin/shared/runtime/show-lag.ts';
import { untraced, type Tracing } from '@tocsin/shared/runtime/tracing/tracing.ts';
import { sweepDigests } from './digest/sweep-digests.ts';
import { sweepEscalations } from './escalation/sweep-escalations.ts';
import { startSweep } from './start-sweep.ts';
import { expandMessages, recipientLookup } from './expand-message.ts';
import { notifiedTimes } from './sending/notified-times.ts';
import type { PushDeps, PushLimits } from './sending/push-deps.ts';
import { openPushGateways } from './providers/open-push-gateways.ts';
import { sendTimeoutMs, type PushGateway } from './providers/push-gateway.ts';
import { tracedGateway } from './providers/traced-gateway.ts';
import { watchProvider, type WatchedGateway } from './providers/watch-provider.ts';
import { pushMetrics } from './sending/push-metrics.ts';
import { pushReads } from './sending/push-reads.ts';
import { refusalReport } from './sending/refusal-report.ts';
import { runPushJob } from './jobs/run-push-job.ts';
import { startMailWorker } from './mail/start-mail-worker.ts';
import { laterSinkClient } from './sinks/later-sink-client.ts';
import type { SinkTimes } from './sinks/sink-deps.ts';
import { sinkRequests } from './sinks/sink-requests.ts';
import { startSinks } from './sinks/start-sinks.ts';

export interface NotifierOptions {
  readonly engine: Engine;
  readonly config: Config;
  readonly log: Logger;
  readonly clock: Clock;
  readonly makeId: MakeId;
  /** Public URLs of the API and the app, without a trailing slash. */
  readonly baseUrl: string;
  readonly appUrl: string;
  /** The metrics registry; without it, metrics are not exposed. */
  readonly metrics?: Registry;
  readonly tracing?: Tracing;
  /** Replaces the configured gateways; closed with the notifier. */
  readonly gateways?: ReadonlyMap<Platform, PushGateway>;
  /**
   * Whether an API runs in the same process: then fewer normal pushes run concurrently, because bursts would delay
   * publishes.
   */
  readonly isBesideApi?: boolean;
  /** For tests that cannot wait for an hour. */
  readonly limits?: Partial<PushLimits>;
  readonly sinkTimes?: Partial<SinkTimes>;
}

/**
 * Concurrent jobs, which mostly wait for the store and the provider; few enough that no claim becomes stale while it
 * waits. Measured: four normal pages next to an API doubled the median of its publishes and sent no faster.
 */
const concurrencyOf = ({ isBesideApi = false }: Pick<NotifierOptions, 'isBesideApi'>) => ({
  [pushQueues.urgent]: isBesideApi ? 16 : 32,
  [pushQueues.normal]: isBesideApi ? 16 : 32,
  [pushQueues.urgentPages]: 4,
  [pushQueues.normalPages]: isBesideApi ? 2 : 4,
  [receiptsQueue]: 1,
});

const sinkTimes: SinkTimes = { turnMs: 1_000, claimMs: 30_000, saveMs: 1_000 };

/** Each batch asks the store which topics have recipients. The delay is small compared with that of the providers. */
const collect = { baseMs: 20, perRecordMs: 5, maxMs: 100 };

function limitsOf(config: Pick<Config, 'PUSH_RETRY_SECONDS' | 'EXPO_RECEIPT_SECONDS'>): PushLimits {
  return {
    firstPageSize: smallPageSize,
    pageSize: 500,
    claimStaleMs: sendTimeoutMs + 2_000,
    backoffMs: 2_000,
    retryForMs: config.PUSH_RETRY_SECONDS * 1_000,
    receiptAfterMs: config.EXPO_RECEIPT_SECONDS * 1_000,
    renewalMs: 10_000,
    badgeAgeMsMax: 3_000,
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
 * Starts the notifier: adds jobs for new messages, and processes jobs and emails. Any number of notifiers share the
 * work. `close` accepts no further work, waits for running batches, and closes nothing that it did not open.
 */
export async function startNotifier(options: NotifierOptions): Promise<{ close(): Promise<void> }> {
  const { engine, clock, log } = options;
  return withClosers(async (own) => {
    const gateways =
      options.gateways ?? (await openPushGateways(options.config, { clock, vapidKeys: engine.vapidKeys }));
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
      reads: pushReads(engine),
      clock,
      log,
      metrics,
      tracing,
      gateways: watchProviders(gateways, { clock, log, metrics, tracing }),
      notifiedTimes: times,
      quietSpans: new QuietSpans(),
      reportRefusal: refusalReport({ clock, log }),
      isCriticalAllowed: options.config.APNS_CRITICAL,
      makeId: options.makeId,
      baseUrl: options.baseUrl,
      random: Math.random,
      limits: { ...limitsOf(options.config), ...options.limits },
      closing: closing.signal,
    };
    const workers: { close(): Promise<void> }[] = [];
    own.add(() => closeConcurrently(workers));
    for (const [queue, jobsMax] of Object.entries(concurrencyOf(options))) {
      const worker = await engine.jobQueue.work(queue, { concurrency: jobsMax, run: (job) => runPushJob(deps, job) });
      workers.push({ close: () => worker.close(sendTimeoutMs) });
    }
    workers.push(await startMailWorker({ ...options, jobQueue: engine.jobQueue, documents: engine.documents }));
    const { documents, jobQueue } = engine;
    const expanding = { clock, documents, jobQueue, hasRecipients: recipientLookup(engine) };
    const escalating = { ...deps, engine, retentionDays: retentionDaysOf(options.config) };
    workers.push(startSweep(deps, 'escalations', () => sweepEscalations(escalating)));
    workers.push(startSweep(deps, 'digests', () => sweepDigests(deps)));
    const client = laterSinkClient({ policy: sinkPolicyOf(options.config) });
    own.add(() => client.close());
    const sinks = startSinks({
      ...deps,
      engine,
      requests: sinkRequests(registry),
      history: new History(engine.messages, clock),
      client,
      limits: { ...sinkTimes, ...options.sinkTimes },
    });
    workers.push(sinks);
    const consumption = await engine.eventLog.consume({
      group: notifierGroup,
      collect,
      async onBatch(batch) {
        // Both must end, because a batch that failed comes again.
        const outcomes = await Promise.allSettled([sinks.wake(batch), expandMessages(expanding, batch)]);
        for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
      },
    });
    own.add(() => consumption.close());
    own.add(() => closing.abort());
    return { close: () => own.closeAll() };
  });
}
