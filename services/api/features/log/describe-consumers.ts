import { lostSince, type LogConsumer } from '@tocsin/shared/domain/log/log-consumer.ts';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import { toConsumerJson, type ConsumerJson } from '@tocsin/shared/wire/consumer.ts';
import type { ApiDeps } from '../../api-deps.ts';

/** Records that are counted per consumer: some milliseconds. */
const countedMax = 10_000;

/**
 * Returns the consumers of the topic with their lag and losses, in the given order. The lag is the number of readable
 * records, or beyond the limit an upper bound: topics share the offsets of a partition.
 */
export async function describeConsumers(
  deps: Pick<ApiDeps, 'history'>,
  topic: Topic,
  consumers: readonly LogConsumer[],
): Promise<ConsumerJson[]> {
  const head = (await deps.history.lastOffset(topic.id)) + 1;
  const described: ConsumerJson[] = [];
  for (const consumer of consumers) {
    const { offset } = consumer;
    const { readable, expired, isComplete } =
      offset >= head
        ? { readable: 0, expired: 0, isComplete: true }
        : await deps.history.countRecords(topic.id, { from: offset, since: lostSince(consumer), max: countedMax });
    const lag = isComplete ? readable : Math.max(readable, head - offset);
    described.push(toConsumerJson(consumer, { head, lag, lost: (consumer.lost ?? 0) + expired }));
  }
  return described;
}
