import type { RemoveTeamDeps } from '@tocsin/shared/operations/teams/remove-team.ts';
import type { ApiDeps } from '../api-deps.ts';
import { auditOfSystem } from '../audit.ts';
import { cleanUpSoon } from './clean-up-soon.ts';

/** What the removal of a team works with on an API node: nodes are told of each step, and cleanups are begun at once. */
export function removalDeps(deps: ApiDeps): RemoveTeamDeps {
  return {
    documents: deps.engine.documents,
    makeId: deps.makeId,
    clock: deps.clock,
    audit: auditOfSystem(deps),
    async onStep({ changes, cleanups }) {
      await deps.directory.changed(...changes);
      await cleanUpSoon(deps, cleanups);
    },
  };
}
