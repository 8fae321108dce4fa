import { isoOrNull } from '@tocsin/shared/domain/to-iso.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { route, type Route } from '../../http/route.ts';
import { requireOrdered } from '../../http/filtering/filter-fields.ts';
import { loadNamedTopic, namedTopic, namedTopicErrors } from './load-named-topics.ts';
import { findSearchPage, searchFields, searchPageFields } from './search-page.ts';
import { searchableTopics, spanOf } from './searchable-topics.ts';

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
        topic: namedTopic,
        ...searchFields,
      })
      .superRefine(requireOrdered),
    success: {
      status: 200,
      schema: z.object({
        ...searchPageFields,
        filters: filtersSchema,
      }),
      description: 'A page of messages and the total',
    },
    errors: namedTopicErrors,
    load: (context) => loadNamedTopic(deps, context),
    async handle(context, { loaded: named, query }) {
      const span =
        named === null ? await searchableTopics(deps, context.account()) : await spanOf(deps, context.caller, named);
      const { headers, body } = await findSearchPage(deps, query, { span, now: context.now });
      const filters: z.infer<typeof filtersSchema> = {
        topic: named?.name ?? null,
        priority_min: query.priority_min ?? null,
        priority_max: query.priority_max ?? null,
        tags: query.tags === undefined || query.tags.length === 0 ? null : query.tags,
        date_from: isoOrNull(query.date_from),
        date_to: isoOrNull(query.date_to),
      };
      return { status: 200, headers, body: { ...body, filters } };
    },
  });
}
