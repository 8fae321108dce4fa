import { changesChannel, type Change } from '../domain/change.ts';
import type { PubSub } from '../ports/bus/pub-sub.ts';

/** Invalidates the caches of running nodes. Throws `unavailable`: then nodes notice the changes within two seconds. */
export const publishChanges = (bus: Pick<PubSub, 'publish'>, changes: readonly Change[]): Promise<void> =>
  bus.publish(
    changesChannel,
    changes.map((change) => JSON.stringify(change)),
  );
