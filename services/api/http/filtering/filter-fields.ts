import type { ContentFilter } from '@tocsin/shared/domain/messages/content-filter.ts';
import { filterLimits, type MessageFilter } from '@tocsin/shared/domain/messages/message-filter.ts';
import { z } from 'zod';
import { codePoints } from '../fields.ts';
import { queryInteger } from '../paging.ts';
import { queryList } from '../query-list.ts';
import { timeField } from '../time-field.ts';

/** The search text; blank means no filter. */
export const textQuery = z
  .string()
  .refine(
    (text) => codePoints(text) <= filterLimits.textCodePoints,
    `must be at most ${filterLimits.textCodePoints} characters`,
  )
  .transform((text) => (text.trim() === '' ? null : text))
  .meta({ sentAs: { type: 'string', maxLength: filterLimits.textCodePoints } });

export const textQueryMeaning = 'A part of the title or the text, case-insensitive. Blank means no filter.';

const priority = queryInteger({ min: 1, max: 5 });

/** Parameters of every query over messages, to spread into a query schema. */
export const filterFields = {
  priority_min: priority.optional().describe('The lowest priority, inclusive.'),
  priority_max: priority.optional().describe('The highest priority, inclusive.'),
  tags: queryList({ max: filterLimits.tags })
    .optional()
    .describe('The message has at least one of these tags, exactly. Separated by commas or repeated.'),
};

/** Parameters that select messages by their content, to spread into a query schema. */
export const contentFields = { q: textQuery.optional().describe(textQueryMeaning), ...filterFields };

/** The period of a search. */
export const dateFields = {
  date_from: timeField('startOfDay')
    .optional()
    .describe('Published at or after this time; a bare date is the start of its day.'),
  date_to: timeField('endOfDay')
    .optional()
    .describe('Published at or before this time; a bare date is the end of its day.'),
};

interface Bounds {
  readonly priority_min?: number | undefined;
  readonly priority_max?: number | undefined;
  readonly date_from?: number | undefined;
  readonly date_to?: number | undefined;
}

/** Checks that the ranges of a query are not reversed. */
export function requireOrdered(query: Bounds, context: z.core.$RefinementCtx<Bounds>): void {
  const { priority_min: least, priority_max: most, date_from: from, date_to: to } = query;
  if (least !== undefined && most !== undefined && least > most) {
    context.addIssue({ code: 'custom', path: ['priority_min'], message: 'must not be above priority_max' });
  }
  if (from !== undefined && to !== undefined && from > to) {
    context.addIssue({ code: 'custom', path: ['date_from'], message: 'must not be after date_to' });
  }
}

interface Conditions extends Bounds {
  readonly q?: string | null | undefined;
  readonly tags?: readonly string[] | undefined;
}

/** Converts `contentFields` to a filter; null without a condition. */
export function toContentFilter(query: Conditions): ContentFilter | null {
  const filter = contentOf(query, query.q ?? null);
  const { text, tags, priorityMin, priorityMax } = filter;
  return text === null && tags.length === 0 && priorityMin === null && priorityMax === null ? null : filter;
}

const contentOf = (query: Conditions, text: string | null): ContentFilter => ({
  text,
  priorityMin: query.priority_min ?? null,
  priorityMax: query.priority_max ?? null,
  tags: query.tags ?? [],
});

/** Converts a query to the filter of the stores, for these topics at this time. */
export function toFilter(
  query: Omit<Conditions, 'q'>,
  of: Pick<MessageFilter, 'topicIds' | 'text' | 'now'> & { includesDeleted?: boolean },
): MessageFilter {
  return {
    topicIds: of.topicIds,
    ...contentOf(query, of.text),
    now: of.now,
    includesDeleted: of.includesDeleted ?? false,
    from: query.date_from ?? null,
    to: query.date_to ?? null,
  };
}
