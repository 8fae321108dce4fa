import { changesChannel } from '@tocsin/shared/domain/change.ts';
import { randomId } from '@tocsin/shared/platform/ids.ts';
import type { RemoveTeamDeps } from '@tocsin/shared/stores/remove-team.ts';
import type { RetentionDeps } from './retention-deps.ts';

/** What removals work with here: nodes are told of each step, and topics are cleaned up by their own sweep. */
export function removalDeps({ engine: { documents, bus }, clock, log }: RetentionDeps): RemoveTeamDeps {
  return {
    documents, clock, makeId: randomId,
    async onStep({ changes }) {
      await bus.publish(changesChannel, changes.map((change) => JSON.stringify(change))).catch((error: unknown) => {
        log.warn({ err: error }, 'nodes learn of a removal by age only: the bus is away');
      });
    },
  };
}
