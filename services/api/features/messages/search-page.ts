import type { MessageFilter } from '@tocsin/shared/domain/messages/message-filter.ts';
import { messageSchema } from '@tocsin/shared/wire/message.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { pageHeaders, pageOf, pagingFields } from '../../http/paging.ts';
import type { TopicSpan } from '../../directory/topic-spans.ts';
import { toSpanJson } from './searchable-topics.ts';
import { contentFields, dateFields, toFilter } from '../../http/filtering/filter-fields.ts';

/** Parameters of a search for messages. */
export const searchFields = {
  ...contentFields,
  ...dateFields,
  ...pagingFields({ default: 50, max: 100 }),
};

/** The fields of a page of found messages. */
export const searchPageFields = {
  messages: z.array(messageSchema),
  total: z.int(),
  limit: z.int(),
  offset: z.int(),
  query: z.string().nullable(),
};

/** Finds a page of messages, newest first, with the total of all pages. Throws `unavailable`. */
export async function findSearchPage(
  { engine }: Pick<ApiDeps, 'engine'>,
  query: z.output<z.ZodObject<typeof searchFields>>,
  of: Pick<MessageFilter, 'now'> & { readonly includesDeleted?: boolean; readonly span: TopicSpan },
) {
  const page = pageOf(query);
  const text = query.q ?? null;
  const { messages, total } = await engine.messages.search(
    toFilter(query, { ...of, topicIds: of.span.ids, text }),
    page,
  );
  return {
    headers: pageHeaders(page, total),
    body: {
      messages: toSpanJson(of.span, messages),
      total,
      limit: page.limit,
      offset: page.offset,
      query: text,
    },
  };
}
