import type { AccountCaller, Caller } from '@tocsin/shared/domain/accounts/caller.ts';
import { hasScope } from '@tocsin/shared/domain/accounts/credentials.ts';
import type { Role } from '@tocsin/shared/domain/teams/team.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { route, type Route } from '../../http/route.ts';
import { listed, listingQuery, listingReply, listingSuccess, rolesOf } from './listing-reply.ts';
import type { Listing } from './read-listings.ts';

/**
 * `GET /api/topics`: discoverable public topics, and with a credential also the topics of the caller and their teams.
 */
export function listTopics(deps: Pick<ApiDeps, 'config' | 'engine' | 'topicListings'>): Route {
  return route({
    id: 'listTopics',
    method: 'GET',
    path: '/api/topics',
    summary: "List discoverable topics, the caller's topics and those of the caller's teams",
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
 * The listings of the caller's topics and of their teams. A key without `topics:read` sees neither,
 * and a key does not see private topics of teams with another owner.
 */
function ownListings(caller: Caller, roles: ReadonlyMap<string, Role>): Listing[] {
  if (caller.kind !== 'account' || !mayReadTopics(caller)) return [];
  // Topics of teams that the caller owns belong to the caller.
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
