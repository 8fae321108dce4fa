import type { PubSub } from '@tocsin/shared/ports/bus/pub-sub.ts';
import { storedReportsChannel, type StoredReport } from '@tocsin/shared/domain/messages/stored-reports.ts';
import { topicChannel, type Envelope } from '@tocsin/shared/domain/messages/channels.ts';
import type { Clock } from '@tocsin/shared/platform/clock.ts';
import type { Logger } from '@tocsin/shared/platform/logger.ts';
import { settledWithin } from '@tocsin/shared/async/settled-within.ts';
import type { RecordBatch } from '@tocsin/shared/ports/event-log.ts';
import type { ReconciledRecord, MessageIngest } from '@tocsin/shared/ports/messages/message-ingest.ts';
import type { TopicActivity } from '@tocsin/shared/operations/topics/topic-activity.ts';
import type { FanOutMetrics } from './fanout-metrics.ts';
import type { PartitionBeats } from './partition-beats.ts';

export interface FanOutDeps {
  readonly messages: Pick<MessageIngest, 'reconcile' | 'moveWatermark'>;
  readonly bus: Pick<PubSub, 'isConnected' | 'publish' | 'isHeard'>;
  readonly clock: Clock;
  readonly log: Logger;
  /** Observes every publish. */
  readonly activity: Pick<TopicActivity, 'published'>;
  /** Tells the nodes which records they must read from the store. */
  readonly beats: Pick<PartitionBeats, 'delivered' | 'missed'>;
  readonly metrics: FanOutMetrics;
}

/**
 * A hanging bus is detected after a second. This shorter wait avoids that the next batch is
 * stored a second later, while readers that backfill from the store wait for it.
 */
const busPatienceMs = 100;

/**
 * Delivers a batch of one partition to its readers: writes missing records to the message store, skips duplicates,
 * moves the watermark, and only then publishes each topic's envelopes to its channel, in order. So every message that
 * reached a stream can be read in history.
 *
 * Rejects while the message store is down, and the batch is repeated. Waits at most a tenth of a second for the bus,
 * and continues without it: nodes backfill from the store.
 */
export async function fanOutBatch(deps: FanOutDeps, batch: RecordBatch): Promise<void> {
  const reconciled = await deps.messages.reconcile(batch.partition, batch.records);
  if (batch.signal.aborted) return;
  reportStored(deps.bus, batch);
  await deps.messages.moveWatermark(batch.partition, batch.nextOffset - 1);
  const now = deps.clock();
  for (const { record } of reconciled) {
    if (record.type !== 'message') continue;
    deps.activity.published(record.message.topicId, record.timestamp);
    deps.metrics.delay.observe(Math.max(0, now - record.timestamp) / 1_000);
  }
  const last = batch.nextOffset - 1;
  deps.beats.delivered(batch.partition, last);
  if (!deps.bus.isConnected) {
    deps.beats.missed(batch.partition, last);
    return;
  }
  const sends = [...envelopesByChannel(deps.bus, reconciled)].map(([channel, payloads]) =>
    deps.bus.publish(channel, payloads),
  );
  const sent = Promise.allSettled(sends).then((outcomes) => {
    const failed = outcomes.filter((send) => send.status === 'rejected');
    if (failed.length === 0) return;
    deps.beats.missed(batch.partition, last);
    deps.log.warn(
      { err: failed[0]!.reason as unknown, topics: failed.length },
      'bus unreachable, nodes backfill from the store',
    );
  });
  await settledWithin(busPatienceMs, [sent]);
}

/** Reports to the API nodes whose publishes wait. A publish whose report is lost stores its message itself. */
function reportStored(bus: FanOutDeps['bus'], { partition, records, nextOffset }: RecordBatch): void {
  if (!bus.isConnected) return;
  const report: StoredReport = { partition, upTo: nextOffset - 1 };
  const nodes = new Set(records.flatMap(({ record: { waitingNode } }) => waitingNode ?? []));
  for (const nodeId of nodes)
    void bus.publish(storedReportsChannel(nodeId), [JSON.stringify(report)]).catch(() => undefined);
}

/** The envelopes for the channels of topics that may have readers. */
function envelopesByChannel(
  bus: Pick<PubSub, 'isHeard'>,
  reconciled: readonly ReconciledRecord[],
): Map<string, string[]> {
  const byChannel = new Map<string, string[]>();
  for (const placed of reconciled) {
    const { type, timestamp, message } = placed.record;
    const channel = topicChannel(message.topicId);
    if (!bus.isHeard(channel)) continue;
    const { offset, previousOffset } = placed;
    // Omits the trace, which nodes do not read.
    const envelope: Envelope = { offset, previousOffset, record: { type, timestamp, message } };
    const payloads = byChannel.get(channel) ?? [];
    payloads.push(JSON.stringify(envelope));
    byChannel.set(channel, payloads);
  }
  return byChannel;
}
