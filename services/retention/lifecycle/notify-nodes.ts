import type { Change } from '@tocsin/shared/domain/change.ts';
import { publishChanges } from '@tocsin/shared/operations/publish-changes.ts';
import type { RetentionDeps } from '../sweep/retention-deps.ts';

/** Invalidates caches of the nodes. While the bus is down, nodes notice changes within two seconds. */
export async function notifyNodes(
  { engine: { bus }, log }: Pick<RetentionDeps, 'engine' | 'log'>,
  changes: readonly Change[],
): Promise<void> {
  await publishChanges(bus, changes).catch((error: unknown) => {
    log.warn({ err: error }, 'bus unreachable, nodes notice the change within two seconds');
  });
}
