import { removeTeam } from '@tocsin/shared/operations/teams/remove-team.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { auditOf } from '../../audit.ts';
import { queryBoolean } from '../../http/paging.ts';
import { requireScopes, route, type Route } from '../../http/route.ts';
import { removalDeps } from '../../erasure/removal-deps.ts';
import { loadTeam } from './load-team.ts';

/** `DELETE /api/teams/{team_id}`: its topics are deleted or become the owner's private topics. */
export function deleteTeam(
  deps: Pick<ApiDeps, 'clock' | 'config' | 'directory' | 'engine' | 'log' | 'makeId' | 'wholeAddress'>,
): Route {
  return route({
    id: 'deleteTeam',
    method: 'DELETE',
    path: '/api/teams/{team_id}',
    summary: "Delete a team; its topics become the owner's private topics or are deleted",
    audience: 'account',
    description: 'With `delete_topics=true`, an API key also needs the scope `topics:write`.',
    scope: 'account:write',
    query: z.object({ delete_topics: queryBoolean.default(false) }),
    errors: { 409: 'A topic of the team is under legal hold.' },
    success: { status: 204, schema: null, description: 'Gone' },
    load: loadTeam(deps, 'owner'),
    async handle(context, { loaded: { team }, query }) {
      if (query.delete_topics) requireScopes(context.account(), ['topics:write']);
      await removeTeam(removalDeps(deps), team.id, query.delete_topics ? 'erase' : 'convert', auditOf(deps, context));
      return { status: 204 };
    },
  });
}
