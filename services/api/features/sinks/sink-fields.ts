import { AppError } from '@tocsin/shared/domain/errors.ts';
import type { ContentFilter } from '@tocsin/shared/domain/messages/content-filter.ts';
import { filterLimits } from '@tocsin/shared/domain/messages/message-filter.ts';
import { headersFault, sinkLimits } from '@tocsin/shared/domain/sinks/sink.ts';
import { sinkUrlCharactersMax, sinkUrlFault, type SinkPolicy } from '@tocsin/shared/platform/sink-urls.ts';
import { z } from 'zod';
import { textField } from '../../http/fields.ts';
import { textQuery, textQueryMeaning } from '../../http/filtering/filter-fields.ts';
import { listValues } from '../../http/query-list.ts';

const offsetFault = `must be a whole number from 0 to ${Number.MAX_SAFE_INTEGER}`;

/** An offset of a log. */
export const offsetField = z
  .number()
  .refine((offset) => Number.isSafeInteger(offset) && offset >= 0, offsetFault)
  .meta({ type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER });

const filterField = z
  .object({
    priority_min: z.int().min(1, 'must be 1 to 5').max(5, 'must be 1 to 5').nullish(),
    tags: z
      .array(z.string())
      .transform(listValues)
      .refine((tags) => tags.length <= filterLimits.tags, `must be at most ${filterLimits.tags}`)
      .nullish()
      .describe('The message has at least one of these tags, exactly.'),
    q: textQuery.nullish().describe(textQueryMeaning),
  })
  .transform(({ priority_min: priorityMin, tags, q }): ContentFilter => ({
    priorityMin: priorityMin ?? null,
    priorityMax: null,
    tags: tags ?? [],
    text: q ?? null,
  }));

const headersField = z.record(z.string(), z.string()).superRefine((headers, context) => {
  const fault = headersFault(headers);
  if (fault !== null) context.addIssue({ code: 'custom', message: fault });
});

/** Fields of a sink in a body. */
export const sinkFields = {
  name: textField({ min: 1, max: sinkLimits.nameCodePoints }),
  url: z.string().max(sinkUrlCharactersMax, `must be at most ${sinkUrlCharactersMax} characters`),
  filter: filterField,
  headers: headersField.describe('Additional headers of each request. They are shown to all managers of the topic.'),
};

/** Throws 422 for a URL that sinks may not have. */
export function requireSinkUrl(url: string, policy: SinkPolicy): void {
  const fault = sinkUrlFault(url, policy);
  if (fault !== null) throw new AppError('unprocessable', `url: ${fault}`);
}

/** The filter of a sink without conditions. */
export const noFilter: ContentFilter = { priorityMin: null, priorityMax: null, tags: [], text: null };
