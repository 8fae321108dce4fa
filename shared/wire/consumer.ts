import { z } from 'zod';
import type { LogConsumer } from '../domain/log/log-consumer.ts';
import { toIso } from '../domain/to-iso.ts';

/** Records that are counted per reader: some milliseconds. A lag beyond them is an upper bound. */
export const countedRecordsMax = 10_000;

/** A named offset of a reader. */
export const consumerSchema = z
  .object({
    name: z.string(),
    offset: z.int().meta({ description: 'The next offset to read.' }),
    head: z.int().meta({ description: 'One more than the last offset of the topic.' }),
    lag: z.int().meta({
      description: `Number of records that are left to read. Above ${countedRecordsMax.toLocaleString('en')}, the number of offsets between \`offset\` and \`head\`.`,
    }),
    lost: z
      .int()
      .meta({ description: 'Number of records that expired before they were read, since the offset was set.' }),
    updated_at: z.iso.datetime(),
  })
  .meta({ id: 'Consumer' });

export type ConsumerJson = z.infer<typeof consumerSchema>;

export function toConsumerJson(
  { name, offset, updatedAt }: LogConsumer,
  { head, lag, lost }: { head: number; lag: number; lost: number },
): ConsumerJson {
  return { name, offset, head, lag, lost, updated_at: toIso(updatedAt) };
}
