import type { RemoveTeamDeps } from '@tocsin/shared/operations/teams/remove-team.ts';
import type { RetentionDeps } from '../sweep/retention-deps.ts';
import { tellNodes } from './tell-nodes.ts';

/** What removals work with here: nodes are told of each step, and topics are cleaned up by their own sweep. */
export function removalDeps(deps: RetentionDeps): RemoveTeamDeps {
  const {
    engine: { documents },
    clock,
    makeId,
    audit,
  } = deps;
  return { documents, clock, makeId, audit, onStep: ({ changes }) => tellNodes(deps, changes) };
}
