import type { ApiDeps } from '../../api-deps.ts';
import { route, type Route } from '../../http/route.ts';
import { listed, listingQuery, listingReply, listingSuccess, rolesOf } from './listing-reply.ts';

/** `GET /api/topics/public`: the discoverable public topics alone, whoever asks. */
export function listPublicTopics(deps: ApiDeps): Route {
  return route({
    id: 'listPublicTopics',
    method: 'GET',
    path: '/api/topics/public',
    summary: 'Topics that can be discovered',
    audience: 'anyone',
    query: listingQuery,
    success: listingSuccess,
    async handle({ caller }, input) {
      return listingReply(deps, { caller, roles: await rolesOf(deps, caller), listings: [listed], query: input.query });
    },
  });
}
