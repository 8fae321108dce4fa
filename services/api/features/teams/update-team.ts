import { AppError } from '@tocsin/shared/domain/errors.ts';
import type { Team } from '@tocsin/shared/domain/teams/team.ts';
import type { Changes, Documents } from '@tocsin/shared/ports/documents.ts';
import { retryStale } from '@tocsin/shared/documents/retry-stale.ts';
import { findTeam, teams } from '@tocsin/shared/collections/teams.ts';
import { teamSchema } from '@tocsin/shared/wire/team.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { route, type Route } from '../../http/route.ts';
import { describeTeam } from './describe-teams.ts';
import { loadTeam } from './load-team.ts';
import { teamFields } from './team-fields.ts';

const body = z.object({
  display_name: teamFields.displayName.optional(),
  description: teamFields.description.optional(),
});

/** `PATCH /api/teams/{team_id}` */
export function updateTeam(deps: Pick<ApiDeps, 'directory' | 'engine'>): Route {
  return route({
    id: 'updateTeam',
    method: 'PATCH',
    path: '/api/teams/{team_id}',
    summary: 'Change a team',
    audience: 'account',
    scope: 'account:write',
    body,
    success: { status: 200, schema: teamSchema, description: 'The team' },
    load: loadTeam(deps, 'manager'),
    async handle(context, { loaded: { team: loaded, role }, body: fields }) {
      const set: Changes<Team> = {
        ...(fields.display_name === undefined ? {} : { displayName: fields.display_name }),
        ...(fields.description === undefined ? {} : { description: fields.description }),
      };
      const team = await change(deps.engine.documents, loaded, { set, now: context.now });
      await deps.directory.changed({ kind: 'team', teamId: team.id });
      return { status: 200, body: await describeTeam(deps.engine.documents, { team, role }) };
    },
  });
}

/** Sets fields of the current team. Throws 404 if it was removed. */
async function change(documents: Documents, loaded: Team, to: { set: Changes<Team>; now: number }): Promise<Team> {
  if (Object.keys(to.set).length === 0) return loaded;
  return retryStale(async () => {
    const team = await findTeam(documents, loaded.id);
    if (team === null) throw new AppError('not_found', 'Team not found');
    return documents.update(teams, team, { ...to.set, updatedAt: to.now });
  });
}
