import type { Caller } from '@tocsin/shared/domain/accounts/caller.ts';
import type { Role } from '@tocsin/shared/domain/teams/team.ts';
import { findRoles } from '@tocsin/shared/collections/teams.ts';
import { topicSchema } from '@tocsin/shared/wire/topic.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { pageHeaders, pageOf, pagingFields } from '../../http/paging.ts';
import type { Reply } from '../../http/route.ts';
import { describeTopics } from './describe-topics.ts';
import { readCachedListings } from './read-cached-listings.ts';
import type { Listing } from './read-listings.ts';

/** Parameters and response of every topic listing. */
export const listingQuery = z.object(pagingFields({ default: 50, max: 100 }));
export const listingSuccess = {
  status: 200,
  schema: z.array(topicSchema),
  description: 'Topics by latest activity',
};

/** The discoverable public topics. */
export const listed: Listing = { index: 'byListed', equals: { isListed: true } };

/** The caller's roles by team; empty for callers other than accounts. */
export async function rolesOf(deps: Pick<ApiDeps, 'engine'>, caller: Caller): Promise<Map<string, Role>> {
  return caller.kind === 'account' ? findRoles(deps.engine.documents, caller.userId) : new Map<string, Role>();
}

/** Returns a page of the combined listings. */
export async function listingReply(
  deps: Pick<ApiDeps, 'config' | 'engine' | 'topicListings'>,
  asked: {
    readonly caller: Caller;
    readonly roles: ReadonlyMap<string, Role>;
    readonly listings: readonly Listing[];
    readonly query: z.output<typeof listingQuery>;
  },
): Promise<Reply> {
  const page = pageOf(asked.query);
  const { topics, total } = await readCachedListings(deps, asked.listings, page);
  const body = await describeTopics(deps, asked.caller, { topics, roles: asked.roles });
  return { status: 200, headers: pageHeaders(page, total), body };
}
