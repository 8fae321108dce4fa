import { plusVolume, type MessageVolume } from '@tocsin/shared/domain/messages/message-volume.ts';
import { noneArchived, type ArchivedVolume, type RetentionRun } from '@tocsin/shared/domain/retention/retention-run.ts';
import { tiers, type Tier } from '@tocsin/shared/domain/accounts/tiers.ts';
import { findOwned } from '@tocsin/shared/operations/retention/retention-plan.ts';
import type { RetentionDeps } from '../sweep/retention-deps.ts';

type Figures = Pick<RetentionRun, 'messages' | 'bytes' | 'tiers' | 'topics' | 'archived'>;

/** Adds the removed and archived messages to the counters of a run's report. */
export function tallyRun(
  { engine: { documents }, clock, metrics }: RetentionDeps,
  run: RetentionRun,
): { add(gone: ReadonlyMap<string, MessageVolume>, archived: ArchivedVolume): Promise<Figures> } {
  let sum: MessageVolume = { messages: run.messages, bytes: run.bytes };
  let sumArchived = run.archived ?? noneArchived;
  const ofTier = new Map<Tier, MessageVolume>(
    run.tiers.map(({ tier, messages, bytes }) => [tier, { messages, bytes }]),
  );
  const topics = new Map(run.topics.map((one) => [one.topicId, one]));
  const tierOf = new Map<string, Tier | null>(run.topics.map(({ topicId, tier }) => [topicId, tier]));

  return {
    async add(gone, archived) {
      sumArchived = {
        messages: sumArchived.messages + archived.messages,
        objects: sumArchived.objects + archived.objects,
      };
      metrics.archived.inc(archived.messages);
      const unknown = [...gone.keys()].filter((topicId) => !tierOf.has(topicId));
      const owned = await findOwned(documents, unknown, clock());
      for (const topicId of unknown) tierOf.set(topicId, owned.get(topicId)?.tier ?? null);
      for (const [topicId, volume] of gone) {
        sum = plusVolume(sum, volume);
        metrics.removedBytes.inc(volume.bytes);
        const tier = tierOf.get(topicId)!;
        if (tier !== null) ofTier.set(tier, plusVolume(ofTier.get(tier), volume));
        const topic = topics.get(topicId);
        if (topic !== undefined) topics.set(topicId, { ...topic, ...plusVolume(topic, volume) });
      }
      return {
        ...sum,
        archived: sumArchived,
        topics: [...topics.values()],
        tiers: tiers.filter((tier) => ofTier.has(tier)).map((tier) => ({ tier, ...ofTier.get(tier)! })),
      };
    },
  };
}
