import { lostSince, type LogConsumer } from '@tocsin/shared/domain/log/log-consumer.ts';
import { recordLag } from '@tocsin/shared/operations/messages/record-lag.ts';
import { consumerHorizon } from '@tocsin/shared/operations/retention/consumer-horizon.ts';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import { toConsumerJson, type ConsumerJson } from '@tocsin/shared/wire/consumer.ts';
import type { ApiDeps } from '../../api-deps.ts';

/** Returns the consumers of the topic with their lag and losses, in the given order. */
export async function describeConsumers(
  deps: Pick<ApiDeps, 'clock' | 'config' | 'engine' | 'history'>,
  topic: Topic,
  consumers: readonly LogConsumer[],
): Promise<ConsumerJson[]> {
  const head = (await deps.history.lastOffset(topic.id)) + 1;
  const { documents } = deps.engine;
  const horizonOf = await consumerHorizon({
    documents,
    clock: deps.clock,
    isSet: deps.config.RETENTION_PROTECT_CONSUMERS,
  });
  const described: ConsumerJson[] = [];
  for (const consumer of consumers) {
    const at = { head, since: lostSince(consumer) };
    const now = horizonOf?.(consumer) ?? deps.clock();
    const { lag, expired } = await recordLag((id, of) => deps.history.countRecords(id, { ...of, now }), consumer, at);
    described.push(toConsumerJson(consumer, { head, lag, lost: (consumer.lost ?? 0) + expired }));
  }
  return described;
}
