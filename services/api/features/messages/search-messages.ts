import { isoOrNull } from '@tocsin/shared/domain/to-iso.ts';
import { messageSchema, toMessageJson } from '@tocsin/shared/wire/message.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { pageHeaders, pageOf, pagingFields } from '../../http/paging.ts';
import { route, type Route } from '../../http/route.ts';
import { dateFields, filterFields, requireOrdered, textQuery, textQueryMeaning, toFilter } from './filter-fields.ts';
import { loadNamedTopic, namedTopic, namedTopicErrors } from './load-named-topics.ts';
import { searchableTopics } from './searchable-topics.ts';

const filtersSchema = z.object({
  topic: z.string().nullable(),
  priority_min: z.int().nullable(),
  priority_max: z.int().nullable(),
  tags: z.array(z.string()).nullable(),
  date_from: z.iso.datetime().nullable(),
  date_to: z.iso.datetime().nullable(),
});

/** `GET /api/messages/search`: the messages of all topics related to the caller, or of a named one, newest first. */
export function searchMessages(deps: Pick<ApiDeps, 'directory' | 'engine' | 'topicSpans'>): Route {
  return route({
    id: 'searchMessages',
    method: 'GET',
    path: '/api/messages/search',
    summary: 'Search the messages of many topics, newest first',
    description:
      'Covers all topics that the caller owns, subscribes to or reaches through a team and may read with this credential, or the named topic, which may be any public one.',
    audience: 'account',
    scope: 'subscribe',
    query: z
      .object({
        q: textQuery.optional().describe(textQueryMeaning),
        topic: namedTopic,
        ...filterFields,
        ...dateFields,
        ...pagingFields({ default: 50, max: 100 }),
      })
      .superRefine(requireOrdered),
    success: {
      status: 200,
      schema: z.object({
        messages: z.array(messageSchema),
        total: z.int(),
        limit: z.int(),
        offset: z.int(),
        query: z.string().nullable(),
        filters: filtersSchema,
      }),
      description: 'A page of messages and the total',
    },
    errors: namedTopicErrors,
    load: (context) => loadNamedTopic(deps, context),
    async handle(context, { loaded: named, query }) {
      const { ids, names } =
        named === null
          ? await searchableTopics(deps, context.account())
          : { ids: [named.id], names: new Map([[named.id, named.name]]) };
      const page = pageOf(query);
      const text = query.q ?? null;
      const { messages, total } = await deps.engine.messages.search(
        toFilter(query, { topicIds: ids, text, now: context.now }),
        page,
      );
      const filters: z.infer<typeof filtersSchema> = {
        topic: named?.name ?? null,
        priority_min: query.priority_min ?? null,
        priority_max: query.priority_max ?? null,
        tags: query.tags === undefined || query.tags.length === 0 ? null : query.tags,
        date_from: isoOrNull(query.date_from),
        date_to: isoOrNull(query.date_to),
      };
      return {
        status: 200,
        headers: pageHeaders(page, total),
        body: {
          messages: messages.map((message) => toMessageJson(message, names.get(message.topicId)!)),
          total,
          limit: page.limit,
          offset: page.offset,
          query: text,
          filters,
        },
      };
    },
  });
}
