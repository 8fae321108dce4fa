import type { LogConsumer } from '@tocsin/shared/domain/log/log-consumer.ts';
import { toIso } from '@tocsin/shared/wire/message-json.ts';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';

/** A named position as the interface shows it. */
export const consumerSchema = z
  .object({
    name: z.string(),
    offset: z.int().meta({ description: 'The position to read from next' }),
    head: z.int().meta({ description: "One past the topic's last record" }),
    lag: z
      .int()
      .meta({ description: 'How many positions lie between offset and head, 0 when there is no record left to read' }),
    updated_at: z.iso.datetime(),
  })
  .meta({ id: 'Consumer' });

type ConsumerJson = z.infer<typeof consumerSchema>;

/**
 * Shows consumers of the topic with how far behind they are. Positions are shared with other topics and have holes, so the
 * lag is an upper bound of the records that are left; it is 0 exactly when there are none, also when those behind the
 * position have expired.
 */
export async function describeConsumers(
  deps: ApiDeps,
  topic: Topic,
  consumers: readonly LogConsumer[],
): Promise<ConsumerJson[]> {
  const head = (await deps.history.lastOffset(topic.id)) + 1;
  const furthest = await furthestBehind(
    deps,
    topic,
    consumers.map(({ offset }) => offset).filter((offset) => offset < head),
  );
  return consumers.map(({ name, offset, updatedAt }) => ({
    name,
    offset,
    head,
    lag: offset <= furthest ? head - offset : 0,
    updated_at: toIso(updatedAt),
  }));
}

/** The highest of the positions that still has a record before it to read, -1 for none; what lies below it has one too. */
async function furthestBehind(deps: ApiDeps, topic: Topic, offsets: readonly number[]): Promise<number> {
  for (const offset of [...new Set(offsets)].sort((a, b) => b - a)) {
    if ((await deps.history.records(topic, offset, 1)).length > 0) return offset;
  }
  return -1;
}
