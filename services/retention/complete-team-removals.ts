import { completeRemoval, findRemovals } from '@tocsin/shared/stores/remove-team.ts';
import { removalDeps } from './removal-deps.ts';
import { isOver, type RetentionDeps, type SweepLimit, type SweepReport } from './retention-deps.ts';

/** Teams looked at in a run. */
const teamsMax = 100;

/** Completes removals of teams that were cut off, by a crash or an engine that went away. What it has not begun waits. */
export async function completeTeamRemovals(deps: RetentionDeps, limit: SweepLimit): Promise<SweepReport> {
  const found = await findRemovals(deps.engine.documents, teamsMax);
  let removed = 0;
  for (const team of found) {
    if (isOver(deps, limit)) return { removed, hasMore: true };
    await completeRemoval(removalDeps(deps), team);
    removed += 1;
  }
  return { removed, hasMore: found.length >= teamsMax };
}
