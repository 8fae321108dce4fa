import type { LogConsumer } from '@tocsin/shared/domain/log/log-consumer.ts';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import { toConsumerJson, type ConsumerJson } from '@tocsin/shared/wire/consumer.ts';
import type { ApiDeps } from '../../api-deps.ts';

/**
 * Returns the consumers of the topic with their lag, in the given order. Topics share the offsets of a partition, so
 * the lag is an upper bound of the number of unread records. It is 0 exactly if no readable record is left.
 */
export async function describeConsumers(
  deps: Pick<ApiDeps, 'history'>,
  topic: Topic,
  consumers: readonly LogConsumer[],
): Promise<ConsumerJson[]> {
  const head = (await deps.history.lastOffset(topic.id)) + 1;
  const lastUnread = await findLastUnread(
    deps,
    topic,
    consumers.map(({ offset }) => offset).filter((offset) => offset < head),
  );
  return consumers.map((consumer) =>
    toConsumerJson(consumer, { head, lag: consumer.offset <= lastUnread ? head - consumer.offset : 0 }),
  );
}

/**
 * Returns the highest of the offsets that has a readable record at or after it, or -1. All lower offsets have one too.
 */
async function findLastUnread(
  deps: Pick<ApiDeps, 'history'>,
  topic: Topic,
  offsets: readonly number[],
): Promise<number> {
  for (const offset of [...new Set(offsets)].sort((a, b) => b - a)) {
    if ((await deps.history.records(topic, offset, 1)).length > 0) return offset;
  }
  return -1;
}
