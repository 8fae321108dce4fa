import { changesChannel, type Change } from '@tocsin/shared/domain/change.ts';
import type { RetentionDeps } from '../sweep/retention-deps.ts';

/** Tells the nodes what to forget; while the bus is away they learn of it by age, within seconds. */
export async function tellNodes(
  { engine: { bus }, log }: Pick<RetentionDeps, 'engine' | 'log'>,
  changes: readonly Change[],
): Promise<void> {
  await bus
    .publish(
      changesChannel,
      changes.map((change) => JSON.stringify(change)),
    )
    .catch((error: unknown) => {
      log.warn({ err: error }, 'nodes learn of a change by age only: the bus is away');
    });
}
