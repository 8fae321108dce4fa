import { Registry } from 'prom-client';
import { coalescedInterval } from '@tocsin/shared/async/coalesced-timer.ts';
import { beatIntervalMs, beatsChannel, type Beat } from '@tocsin/shared/domain/messages/fanout-beats.ts';
import { fanoutGroup } from '@tocsin/shared/domain/log/log-groups.ts';
import type { PubSub } from '@tocsin/shared/ports/bus/pub-sub.ts';
import type { Engine } from '@tocsin/shared/ports/engine.ts';
import type { Clock } from '@tocsin/shared/platform/clock.ts';
import { withClosers } from '@tocsin/shared/platform/lifecycle.ts';
import type { Logger } from '@tocsin/shared/platform/logger.ts';
import { showLag } from '@tocsin/shared/runtime/show-lag.ts';
import { topicActivity } from '@tocsin/shared/operations/topics/topic-activity.ts';
import { fanOutBatch } from './fan-out-batch.ts';
import { fanOutMetrics } from './fanout-metrics.ts';
import { PartitionBeats } from './partition-beats.ts';

/**
 * Larger batches cost a cluster less per message: with the longest time, 16 publishers reached 1.6 times as many
 * messages/s, and 1.2 times as many again with its early end (measured). A publish that follows others waits longer by
 * this time at most.
 */
const collect = { baseMs: 2, perRecordMs: 1, maxMs: 10, endsAtPeak: true };

/**
 * Starts a fan-out: a member of the log's consumer group `fanout`, which completes the message store and publishes
 * every record to the bus. Twice a second it sends beats, from which nodes learn whether they receive every record. On
 * assignment of a partition it resumes after the store's watermark and not at the group's
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
    const beats = new PartitionBeats();
    const consumption = await engine.eventLog.consume({
      group: fanoutGroup,
      ...(engine.kind === 'cluster' ? { collect } : {}),
      startAt: async (partition, signal) => {
        const start = (await engine.messages.watermark(partition)) + 1;
        beats.assigned(partition, start, signal);
        return start;
      },
      onBatch: (batch) =>
        fanOutBatch({ messages: engine.messages, bus: engine.bus, clock, log, activity, beats, metrics }, batch),
    });
    own.add(() => consumption.close());
    own.add(coalescedInterval(beatIntervalMs, () => sendBeats(engine.bus, beats.all)));
    return { close: () => own.closeAll() };
  });
}

/** Nodes that miss beats read the store, so a failure needs no retry. */
function sendBeats(bus: Pick<PubSub, 'isConnected' | 'publish'>, beats: readonly Beat[]): void {
  if (bus.isConnected && beats.length > 0)
    void bus.publish(beatsChannel, [JSON.stringify(beats)]).catch(() => undefined);
}
