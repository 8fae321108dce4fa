import type { RemoveTeamDeps } from '@tocsin/shared/operations/teams/remove-team.ts';
import type { ApiDeps } from '../api-deps.ts';
import { auditOfSystem } from '../audit.ts';
import { cleanUpSoon } from './clean-up-soon.ts';

/** The dependencies of a team removal on an API node: notifies nodes of each step and starts cleanups immediately. */
export function removalDeps(
  deps: Pick<ApiDeps, 'clock' | 'config' | 'directory' | 'engine' | 'log' | 'makeId'>,
): RemoveTeamDeps {
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
