import { topicChannel, type Envelope } from '@tocsin/shared/domain/messages/channels.ts';
import type { Clock } from '@tocsin/shared/platform/clock.ts';
import type { Logger } from '@tocsin/shared/platform/logger.ts';
import { settledWithin } from '@tocsin/shared/async/settled-within.ts';
import type { Bus } from '@tocsin/shared/ports/bus.ts';
import type { RecordBatch } from '@tocsin/shared/ports/event-log.ts';
import type { Messages, SettledRecord } from '@tocsin/shared/ports/messages.ts';
import type { TopicActivity } from '@tocsin/shared/operations/topics/topic-activity.ts';
import type { FanOutMetrics } from './fanout-metrics.ts';

export interface FanOutDeps {
  readonly messages: Pick<Messages, 'settle' | 'moveWatermark'>;
  readonly bus: Pick<Bus, 'isConnected' | 'publish'>;
  readonly clock: Clock;
  readonly log: Logger;
  /** Told of every publish. */
  readonly activity: Pick<TopicActivity, 'published'>;
  readonly metrics: FanOutMetrics;
}

/**
 * A bus that does not answer is known to be away after a second. Harm prevented: that second before the next batch is
 * stored, while readers that fill from the store wait for it.
 */
const busPatienceMs = 100;

/**
 * Brings a batch of one partition to its readers: what the message store misses is written, second copies are left out,
 * the watermark moves, and only then each topic's envelopes go to its channel, in order. So whatever reached a stream
 * can be read in history.
 *
 * Rejects while the message store is away, and the batch comes again. For the bus it waits a tenth of a second at most,
 * and goes on without it: nodes fill what they missed from the store.
 */
export async function fanOutBatch(deps: FanOutDeps, batch: RecordBatch): Promise<void> {
  const settled = await deps.messages.settle(batch.partition, batch.records);
  if (batch.signal.aborted) return;
  await deps.messages.moveWatermark(batch.partition, batch.nextOffset - 1);
  const now = deps.clock();
  for (const { record } of settled) {
    if (record.type !== 'message') continue;
    deps.activity.published(record.message.topicId, record.timestamp);
    deps.metrics.delay.observe(Math.max(0, now - record.timestamp) / 1_000);
  }
  if (!deps.bus.isConnected) return;
  const sends = [...envelopesByTopic(settled)].map(([topicId, payloads]) =>
    deps.bus.publish(topicChannel(topicId), payloads),
  );
  const sent = Promise.allSettled(sends).then((outcomes) => {
    const failed = outcomes.filter((send) => send.status === 'rejected');
    if (failed.length > 0)
      deps.log.warn(
        { err: failed[0]!.reason as unknown, topics: failed.length },
        'the bus is away, nodes fill from the store',
      );
  });
  await settledWithin(busPatienceMs, [sent]);
}

function envelopesByTopic(settled: readonly SettledRecord[]): Map<string, string[]> {
  const byTopic = new Map<string, string[]>();
  for (const {
    offset,
    previousOffset,
    record: { type, timestamp, message },
  } of settled) {
    const envelope: Envelope = { offset, previousOffset, record: { type, timestamp, message } }; // without its trace, which nodes do not read
    const payloads = byTopic.get(message.topicId) ?? [];
    payloads.push(JSON.stringify(envelope));
    byTopic.set(message.topicId, payloads);
  }
  return byTopic;
}
