import type { MessageVolume } from '@tocsin/shared/domain/messages/message-volume.ts';
import { noneArchived, type ArchivedVolume, type RetentionRun } from '@tocsin/shared/domain/retention/retention-run.ts';
import { protectedMs } from '@tocsin/shared/domain/retention/protection.ts';
import type { RetentionDeps } from '../sweep/retention-deps.ts';
import { heldTopicIds } from './held-topic-ids.ts';
import { protectedTopicIds } from './protected-topic-ids.ts';

/** Limits a write to a few milliseconds, because concurrent publishes wait for it (docs/benchmarks.md). */
export const removedPerBatch = 100;

/** What a step of a run removed or archived. */
export interface RemovalStep {
  /** The removed volume by topic. */
  readonly gone: ReadonlyMap<string, MessageVolume>;
  readonly archived: ArchivedVolume;
  /** Whether archived messages are left to remove: a run that ends here archives them again. */
  readonly hasConfirmed: boolean;
}

/**
 * Removes the messages of a run in batches, oldest expiry first, except in topics under legal hold. Protected topics
 * keep their messages for `protectedMs` after the expiry.
 */
export async function* removeExpired(deps: RetentionDeps, { upTo }: RetentionRun): AsyncGenerator<RemovalStep, void> {
  const { messages, documents } = deps.engine;
  const kept = await protectedTopicIds(deps, upTo);
  const periods = [
    { until: upTo, except: [...kept] },
    ...(kept.size === 0 ? [] : [{ until: upTo - protectedMs, except: [] }]),
  ];
  for (const { until, except } of periods)
    for (;;) {
      const gone = await messages.removeExpired(until, removedPerBatch, [
        ...(await heldTopicIds(documents)),
        ...except,
      ]);
      if (gone.size === 0) break;
      yield { gone, archived: noneArchived, hasConfirmed: false };
    }
}
