import type { RemoveTeamDeps } from '@tocsin/shared/operations/teams/remove-team.ts';
import type { RetentionDeps } from '../sweep/retention-deps.ts';
import { notifyNodes } from './notify-nodes.ts';

/** The dependencies of removals: each step notifies the nodes, and a sweep cleans up topics. */
export function removalDeps(deps: RetentionDeps): RemoveTeamDeps {
  const {
    engine: { documents },
    clock,
    makeId,
    audit,
  } = deps;
  return { documents, clock, makeId, audit, onStep: ({ changes }) => notifyNodes(deps, changes) };
}
