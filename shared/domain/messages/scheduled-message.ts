import { redacted, type Message } from './message.ts';

/** `scheduled` until the message is on the log (`delivered`), or will never be. */
export const scheduledStates = ['scheduled', 'delivered', 'cancelled', 'dropped'] as const;
export type ScheduledState = (typeof scheduledStates)[number];

/** The publisher of a scheduled message, whose right to publish is checked again at its time. */
export type ScheduledPublisher =
  | { readonly kind: 'anonymous' }
  /** `keyId`: the API key; null for a login. */
  | { readonly kind: 'account'; readonly userId: string; readonly keyId: string | null }
  | { readonly kind: 'topic-token'; readonly tokenId: string };

/** A message that waits for its time, and for a week after its end. Times are milliseconds since the epoch. */
export interface ScheduledMessage {
  /** The ID of the message, also in the log. */
  readonly id: string;
  readonly version: number;
  readonly topicId: string;
  /** The name when the message was scheduled, for a topic that was deleted. */
  readonly topicName: string;
  /** The topic's owner, which never changes; null after the erasure of that account. */
  readonly topicOwnerId: string | null;
  readonly teamId: string | null;
  readonly publisher: ScheduledPublisher;
  /** The publishing account if it does not own the topic, else null. */
  readonly guestId: string | null;
  /** The account or topic whose limit the message counts against while it waits, then null. */
  readonly holderId: string | null;
  /** With the times that it would have if it were appended exactly at its time. Without content once it ended. */
  readonly message: Message;
  readonly scheduledFor: number;
  /** The lifetime that the publisher asked for; null: the topic's retention. */
  readonly ttlMs: number | null;
  /** When a node may claim it: `scheduledFor`, or after a claim when another node may take over. Null at its end. */
  readonly dueAt: number | null;
  /** The expiry of the message that its last claim appends; null while no node may have appended it. */
  readonly attemptExpiresAt: number | null;
  readonly state: ScheduledState;
  /** Why it was dropped; null in other states. */
  readonly reason: string | null;
  /** When it was delivered, cancelled or dropped. */
  readonly endedAt: number | null;
}

/** How long the end of a scheduled message can be read. */
export const endedScheduledKeptMs = 7 * 86_400_000;

/** The maximum number of waiting messages of a holder. */
export const scheduledPerHolder = 1_000;

/** From now to the time of a scheduled message. */
export const scheduleAheadMs = { min: 10_000, max: 30 * 86_400_000 } as const;

/** Reasons of dropped messages. */
export const topicWasDeleted = 'Topic was deleted';
export const accountWasDeleted = "The publisher's account was deleted";

export type ScheduledEnd =
  { readonly state: 'delivered' | 'cancelled' } | { readonly state: 'dropped'; readonly reason: string };

/** Returns the changes that end a scheduled message. Removes the content: the log has it, or it is not needed. */
export function endOf(
  { message }: Pick<ScheduledMessage, 'message'>,
  end: ScheduledEnd,
  now: number,
): Pick<ScheduledMessage, 'state' | 'reason' | 'message' | 'dueAt' | 'holderId' | 'endedAt'> {
  return {
    state: end.state,
    reason: end.state === 'dropped' ? end.reason : null,
    message: { ...redacted(message, now), publishedBy: null },
    dueAt: null,
    holderId: null,
    endedAt: now,
  };
}
