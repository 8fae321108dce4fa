import { noVolume, plusVolume, type MessageVolume } from '../messages/message-volume.ts';
import { tiers, type Tier } from '../accounts/tiers.ts';

/** What would go of a topic. */
export interface PlannedTopic extends MessageVolume {
  readonly topicId: string;
  /** Null once the topic is gone, and what it left is about to be. */
  readonly name: string | null;
  /** The tier in force of its owner; null for a topic that is gone. */
  readonly tier: Tier | null;
  /** What the topic itself asks for; null: as long as the tier says. */
  readonly retentionDays: number | null;
  /** Under legal hold: nothing of it goes. */
  readonly isHeld: boolean;
}

/** What would go of the topics whose owners have the tier, and how many messages these have in all. */
export interface PlannedTier extends MessageVolume {
  readonly tier: Tier;
  readonly ofMessages: number;
}

/** Which messages go: those that expired at or before a time, but for topics under legal hold. */
export interface RetentionPlan extends MessageVolume {
  readonly upTo: number;
  /** Those of which anything has expired, the largest first, also those under legal hold. */
  readonly topics: readonly PlannedTopic[];
  /** Those of which anything would go. */
  readonly tiers: readonly PlannedTier[];
  /** What stays because of legal holds. */
  readonly held: MessageVolume;
}

/** A plan beyond both limits waits for an operator. Harm prevented: a wrong clock or setting that removes what somebody wants. */
export const unconfirmedMax = { messages: 10_000, shareOfTier: 0.2 } as const;

/** Whether the plan is so large that an operator has to confirm it. */
export function needsConfirmation({ messages, tiers: planned }: Pick<RetentionPlan, 'messages' | 'tiers'>): boolean {
  return (
    messages > unconfirmedMax.messages &&
    planned.some((one) => one.messages > unconfirmedMax.shareOfTier * one.ofMessages)
  );
}

/** Adds up the topics. `ofTier` has how many messages all topics of each tier have. */
export function planOf(
  upTo: number,
  topics: readonly PlannedTopic[],
  ofTier: ReadonlyMap<Tier, number>,
): RetentionPlan {
  const sum = (some: readonly PlannedTopic[]): MessageVolume =>
    some.reduce<MessageVolume>((all, topic) => plusVolume(all, topic), noVolume);
  const going = topics.filter(({ isHeld }) => !isHeld);
  return {
    upTo,
    topics: [...topics].sort((a, b) => b.messages - a.messages || (a.topicId < b.topicId ? -1 : 1)),
    tiers: tiers
      .map((tier) => ({
        tier,
        ...sum(going.filter((topic) => topic.tier === tier)),
        ofMessages: ofTier.get(tier) ?? 0,
      }))
      .filter(({ messages }) => messages > 0),
    ...sum(going),
    held: sum(topics.filter(({ isHeld }) => isHeld)),
  };
}
