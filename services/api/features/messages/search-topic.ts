import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import { messageSchema, toMessageJson } from '@tocsin/shared/wire/message.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { openTopicByName } from '../../http/load-topic.ts';
import { pageHeaders, pageOf, pagingFields, queryBoolean } from '../../http/paging.ts';
import { route, type RequestContext, type Route } from '../../http/route.ts';
import { dateFields, filterFields, requireOrdered, textQuery, textQueryMeaning, toFilter } from './filter-fields.ts';

/** `GET /api/topics/{name}/messages`: a topic's messages by text, tags, priority and time, newest first. */
export function searchTopic(deps: Pick<ApiDeps, 'directory' | 'engine'>): Route {
  return route({
    id: 'searchTopic',
    method: 'GET',
    path: '/api/topics/{name}/messages',
    summary: 'Search the messages of a topic, newest first',
    audience: 'anyone',
    scope: 'subscribe',
    isTopicRoute: true,
    query: z
      .object({
        q: textQuery.optional().describe(textQueryMeaning),
        ...filterFields,
        ...dateFields,
        include_deleted: queryBoolean
          .default(false)
          .describe(
            'Includes deleted messages, with their content for 30 days after the deletion. Only for managers of the topic.',
          ),
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
        topic: z.string(),
      }),
      description: 'A page of messages and the total',
    },
    load: (context) => loadSearched(deps, context),
    async handle({ now }, { loaded: topic, query }) {
      const page = pageOf(query);
      const text = query.q ?? null;
      const { messages, total } = await deps.engine.messages.search(
        toFilter(query, { topicIds: [topic.id], text, now, includesDeleted: query.include_deleted }),
        page,
      );
      return {
        status: 200,
        headers: pageHeaders(page, total),
        body: {
          messages: messages.map((message) => toMessageJson(message, topic.name)),
          total,
          limit: page.limit,
          offset: page.offset,
          query: text,
          topic: topic.name,
        },
      };
    },
  });
}

/** Only managers of the topic may see deleted messages. */
function loadSearched(
  deps: Pick<ApiDeps, 'directory'>,
  { caller, params, searchParams }: RequestContext,
): Promise<Topic> {
  const includesDeleted = ['true', '1'].includes(searchParams.get('include_deleted') ?? '');
  return openTopicByName(deps.directory, caller, { name: params['name']!, act: includesDeleted ? 'manage' : 'read' });
}
