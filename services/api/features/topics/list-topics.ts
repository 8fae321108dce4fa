import type { AccountCaller, Caller } from '@tocsin/shared/domain/accounts/caller.ts';
import { hasScope } from '@tocsin/shared/domain/accounts/credentials.ts';
import type { Role } from '@tocsin/shared/domain/teams/team.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { route, type Route } from '../../http/route.ts';
import { listed, listingQuery, listingReply, listingSuccess, rolesOf } from './listing-reply.ts';
import type { Listing } from './read-listings.ts';

/** `GET /api/topics`: the discoverable public topics, and with a credential also the caller's own and their teams'. */
export function listTopics(deps: ApiDeps): Route {
  return route({
    id: 'listTopics',
    method: 'GET',
    path: '/api/topics',
    summary: "Topics that can be discovered, the caller's own, and those of the caller's teams",
    audience: 'anyone',
    query: listingQuery,
    success: listingSuccess,
    async handle({ caller }, input) {
      const roles = await rolesOf(deps, caller);
      return listingReply(deps, {
        caller,
        roles,
        listings: [listed, ...ownListings(caller, roles)],
        query: input.query,
      });
    },
  });
}

/**
 * What the caller's own and their teams' topics add to the public listing. A key without `topics:read` sees none of
 * them, and a key none of the private ones of a team whose owner is another.
 */
function ownListings(caller: Caller, roles: ReadonlyMap<string, Role>): Listing[] {
  if (caller.kind !== 'account' || !mayReadTopics(caller)) return [];
  // Topics of the caller's own teams are the caller's own.
  const teamIds = [...roles].filter(([, role]) => role !== 'owner').map(([teamId]) => teamId);
  const levels = caller.scopes === null ? (['public', 'private'] as const) : (['public'] as const);
  return [
    { index: 'byOwnerListed', equals: { ownerId: caller.userId, isListed: false } },
    ...teamIds.flatMap((teamId) =>
      levels.map((accessLevel): Listing => ({
        index: 'byTeamListed',
        equals: { teamId, isListed: false, accessLevel },
      })),
    ),
  ];
}

const mayReadTopics = (caller: AccountCaller): boolean =>
  caller.scopes === null || hasScope(caller.scopes, 'topics:read');
