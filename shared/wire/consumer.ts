import { z } from 'zod';
import type { LogConsumer } from '../domain/log/log-consumer.ts';
import { toIso } from '../domain/to-iso.ts';

/** A named offset of a reader. */
export const consumerSchema = z
  .object({
    name: z.string(),
    offset: z.int().meta({ description: 'The next offset to read.' }),
    head: z.int().meta({ description: 'One more than the last offset of the topic.' }),
    lag: z
      .int()
      .meta({ description: 'Number of offsets between `offset` and `head`. 0 if no record is left to read.' }),
    updated_at: z.iso.datetime(),
  })
  .meta({ id: 'Consumer' });

export type ConsumerJson = z.infer<typeof consumerSchema>;

export function toConsumerJson(
  { name, offset, updatedAt }: LogConsumer,
  { head, lag }: { head: number; lag: number },
): ConsumerJson {
  return { name, offset, head, lag, updated_at: toIso(updatedAt) };
}
