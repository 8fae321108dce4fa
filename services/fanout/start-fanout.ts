import { Registry } from 'prom-client';
import { fanoutGroup } from '@tocsin/shared/domain/log/log-groups.ts';
import type { Engine } from '@tocsin/shared/ports/engine.ts';
import type { Clock } from '@tocsin/shared/platform/clock.ts';
import { withClosers } from '@tocsin/shared/platform/lifecycle.ts';
import type { Logger } from '@tocsin/shared/platform/logger.ts';
import { showLag } from '@tocsin/shared/runtime/show-lag.ts';
import { topicActivity } from '@tocsin/shared/operations/topics/topic-activity.ts';
import { fanOutBatch } from './fan-out-batch.ts';
import { fanOutMetrics } from './fanout-metrics.ts';

/**
 * Starts a fan-out: a member of the log's consumer group `fanout`, which completes the message store and publishes
 * every record to the bus. On assignment of a partition it resumes after the store's watermark and not at the group's
 * committed offset, because only the watermark reflects the store.
 */
export function startFanout(deps: {
  engine: Engine;
  clock: Clock;
  log: Logger;
  metrics?: Registry;
}): Promise<{ close(): Promise<void> }> {
  const { engine, clock, log } = deps;
  const registry = deps.metrics ?? new Registry();
  const metrics = fanOutMetrics(registry);
  showLag(registry, engine.eventLog, fanoutGroup);
  return withClosers(async (own) => {
    const activity = topicActivity(engine.documents, (err) =>
      log.warn({ err }, 'the activity of topics was not recorded'),
    );
    own.add(() => activity.close());
    const consumption = await engine.eventLog.consume({
      group: fanoutGroup,
      startAt: async (partition) => (await engine.messages.watermark(partition)) + 1,
      onBatch: (batch) =>
        fanOutBatch({ messages: engine.messages, bus: engine.bus, clock, log, activity, metrics }, batch),
    });
    own.add(() => consumption.close());
    return { close: () => own.closeAll() };
  });
}
