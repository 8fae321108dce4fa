import { setTeamActive } from '@tocsin/shared/operations/teams/set-team-active.ts';
import { teamSchema } from '@tocsin/shared/wire/team.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { auditOf } from '../../audit.ts';
import { route, type RequestContext, type Route } from '../../http/route.ts';
import { describeTeam } from './describe-teams.ts';
import { loadTeam } from './load-team.ts';
import { requireTeamTier } from './require-team-tier.ts';

/** `POST /api/teams/{team_id}/reactivate`: has no effect on an active team. */
export function reactivateTeam(
  deps: Pick<ApiDeps, 'clock' | 'directory' | 'engine' | 'makeId' | 'wholeAddress'>,
): Route {
  const load = loadTeam(deps, 'owner');
  return route({
    id: 'reactivateTeam',
    method: 'POST',
    path: '/api/teams/{team_id}/reactivate',
    summary: 'Reactivate a team with its topics and members',
    audience: 'account',
    scope: 'account:write',
    success: { status: 200, schema: teamSchema, description: 'The team' },
    async load(context: RequestContext) {
      const open = await load(context);
      requireTeamTier(context.account());
      return open;
    },
    async handle(context, { loaded }) {
      const { documents } = deps.engine;
      const team = await setTeamActive(
        documents,
        loaded.team.id,
        { isActive: true, now: context.now },
        auditOf(deps, context),
      );
      await deps.directory.changed({ kind: 'team', teamId: team.id });
      return { status: 200, body: await describeTeam(documents, { team, role: loaded.role }) };
    },
  });
}
