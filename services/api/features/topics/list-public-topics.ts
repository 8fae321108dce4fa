import type { ApiDeps } from '../../api-deps.ts';
import { route, type Route } from '../../http/route.ts';
import { listed, listingQuery, listingReply, listingSuccess, rolesOf } from './listing-reply.ts';

/** `GET /api/topics/public`: only discoverable public topics, for any caller. */
export function listPublicTopics(deps: Pick<ApiDeps, 'config' | 'engine' | 'topicListings'>): Route {
  return route({
    id: 'listPublicTopics',
    method: 'GET',
    path: '/api/topics/public',
    summary: 'List discoverable topics',
    audience: 'anyone',
    query: listingQuery,
    success: listingSuccess,
    async handle({ caller }, input) {
      return listingReply(deps, { caller, roles: await rolesOf(deps, caller), listings: [listed], query: input.query });
    },
  });
}
