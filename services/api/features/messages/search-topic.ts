import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { openTopicByName } from '../../http/load-topic.ts';
import { queryBoolean } from '../../http/paging.ts';
import { route, type RequestContext, type Route } from '../../http/route.ts';
import { requireOrdered } from '../../http/filtering/filter-fields.ts';
import { spanOf } from './searchable-topics.ts';
import { findSearchPage, searchFields, searchPageFields } from './search-page.ts';

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
        ...searchFields,
        include_deleted: queryBoolean
          .default(false)
          .describe(
            'Includes deleted messages, with their content for 30 days after the deletion. Only for managers of the topic.',
          ),
      })
      .superRefine(requireOrdered),
    success: {
      status: 200,
      schema: z.object({
        ...searchPageFields,
        topic: z.string(),
      }),
      description: 'A page of messages and the total',
    },
    load: (context) => loadSearched(deps, context),
    async handle({ caller, now }, { loaded: topic, query }) {
      const { headers, body } = await findSearchPage(deps, query, {
        span: await spanOf(deps, caller, topic),
        now,
        includesDeleted: query.include_deleted,
      });
      return { status: 200, headers, body: { ...body, topic: topic.name } };
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
