import { changesChannel } from '@tocsin/shared/domain/change.ts';
import { randomId } from '@tocsin/shared/platform/ids.ts';
import { completeRemoval, findRemovals, type RemoveTeamDeps } from '@tocsin/shared/stores/remove-team.ts';
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

/** The sweep of cleanups sees to what the topics leave behind. */
function removalDeps({ engine: { documents, bus }, clock, log }: RetentionDeps): RemoveTeamDeps {
  return {
    documents, clock, makeId: randomId,
    async onStep({ changes }) {
      await bus.publish(changesChannel, changes.map((change) => JSON.stringify(change))).catch((error: unknown) => {
        log.warn({ err: error }, 'nodes learn of the removal of a team by age only: the bus is away');
      });
    },
  };
}
