import type { ApiDeps } from '../../api-deps.ts';
import { route, type Route } from '../../http/route.ts';
import { listingQuery, listingReply, listingSuccess } from './listing-reply.ts';
import type { Listing } from './read-listings.ts';

/** `GET /api/topics/my`: the caller's topics, including those of own teams. */
export function listMyTopics(deps: Pick<ApiDeps, 'config' | 'engine' | 'topicListings'>): Route {
  return route({
    id: 'listMyTopics',
    method: 'GET',
    path: '/api/topics/my',
    summary: "List the caller's topics",
    audience: 'account',
    scope: 'topics:read',
    query: listingQuery,
    success: listingSuccess,
    async handle(context, input) {
      const caller = context.account();
      const owned: Listing = { index: 'byOwnerActivity', equals: { ownerId: caller.userId } };
      return listingReply(deps, { caller, roles: new Map(), listings: [owned], query: input.query });
    },
  });
}
