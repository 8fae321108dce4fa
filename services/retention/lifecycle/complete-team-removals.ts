import { completeRemoval, findRemovals } from '@tocsin/shared/operations/teams/remove-team.ts';
import { removalDeps } from './removal-deps.ts';
import type { RetentionDeps, SweepLimit, SweepReport } from '../sweep/retention-deps.ts';
import { sweepEach } from '../sweep/sweep-each.ts';

/** Teams per run. */
const teamsMax = 100;

/** Completes removals of teams that were interrupted by a crash or an outage. Failed ones wait for a later run. */
export async function completeTeamRemovals(deps: RetentionDeps, limit: SweepLimit): Promise<SweepReport> {
  const found = new Map((await findRemovals(deps.engine.documents, teamsMax)).map((team) => [team.id, team]));
  return sweepEach(deps, limit, {
    ids: [...found.keys()],
    idsMax: teamsMax,
    sweepOne: async (id) => {
      await completeRemoval(removalDeps(deps), found.get(id)!);
      return { removed: 1, hasMore: false };
    },
    onFailure: (error, teamId) => deps.log.error({ err: error, teamId }, 'team removal failed'),
  });
}
