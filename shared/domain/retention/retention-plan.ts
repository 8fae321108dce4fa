import { noVolume, plusVolume, type MessageVolume } from '../messages/message-volume.ts';
import { tiers, type Tier } from '../accounts/tiers.ts';

/** The expired messages of a topic. */
export interface PlannedTopic extends MessageVolume {
  readonly topicId: string;
  /** Null if the topic was removed and its messages are not removed yet. */
  readonly name: string | null;
  /** The owner's effective tier; null for a removed topic. */
  readonly tier: Tier | null;
  /** The topic's own setting; null means the tier's retention. */
  readonly retentionDays: number | null;
  /** Under legal hold: nothing is removed. */
  readonly isHeld: boolean;
  /** A consumer has unread records here: only messages that expired 7 days before are in the plan. */
  readonly isProtected: boolean;
}

/** The messages to remove from topics whose owners have the tier, and the total number of messages of these topics. */
export interface PlannedTier extends MessageVolume {
  readonly tier: Tier;
  readonly ofMessages: number;
}

/** The messages to remove: those that expired at or before a time, except in topics under legal hold. */
export interface RetentionPlan extends MessageVolume {
  readonly upTo: number;
  /** Topics with expired messages, largest first, including those under legal hold. */
  readonly topics: readonly PlannedTopic[];
  /** Topics with messages to remove. */
  readonly tiers: readonly PlannedTier[];
  /** Expired messages that legal holds retain. */
  readonly held: MessageVolume;
}

/** A plan beyond both limits waits for an operator, so that a wrong clock or setting does not delete data. */
export const unconfirmedMax = { messages: 10_000, shareOfTier: 0.2 } as const;

/** Whether the plan is so large that an operator must confirm it. */
export function needsConfirmation({ messages, tiers: planned }: Pick<RetentionPlan, 'messages' | 'tiers'>): boolean {
  return (
    messages > unconfirmedMax.messages &&
    planned.some((one) => one.messages > unconfirmedMax.shareOfTier * one.ofMessages)
  );
}

/** Sums the topics. `ofTier` contains the total number of messages per tier. */
export function planOf(
  upTo: number,
  topics: readonly PlannedTopic[],
  ofTier: ReadonlyMap<Tier, number>,
): RetentionPlan {
  const sum = (some: readonly PlannedTopic[]): MessageVolume =>
    some.reduce<MessageVolume>((all, topic) => plusVolume(all, topic), noVolume);
  const removable = topics.filter(({ isHeld }) => !isHeld);
  return {
    upTo,
    topics: [...topics].sort((a, b) => b.messages - a.messages || (a.topicId < b.topicId ? -1 : 1)),
    tiers: tiers
      .map((tier) => ({
        tier,
        ...sum(removable.filter((topic) => topic.tier === tier)),
        ofMessages: ofTier.get(tier) ?? 0,
      }))
      .filter(({ messages }) => messages > 0),
    ...sum(removable),
    held: sum(topics.filter(({ isHeld }) => isHeld)),
  };
}
