import type { Message } from '../messages/message.ts';
import { toIso } from '../to-iso.ts';
import { defaultDigestAt, type DigestInterval, type MobileSettings } from './subscription.ts';

/** More urgent messages are pushed immediately. */
export const digestPriorityMax = 3;

/** When digests are sent. Subscriptions of a user with the same schedule share them. */
export interface DigestSchedule {
  readonly every: DigestInterval;
  /** `HH:MM` for `1d`; otherwise null. */
  readonly timeOfDay: string | null;
  readonly timezone: string | null;
}

/** Returns the schedule of the subscription's digest, or null. */
export function digestSchedule({
  digest,
  digestAt,
  digestTimezone,
  quietHours,
}: Pick<MobileSettings, 'digest' | 'digestAt' | 'digestTimezone' | 'quietHours'>): DigestSchedule | null {
  if (digest === null) return null;
  if (digest !== '1d') return { every: digest, timeOfDay: null, timezone: null };
  return {
    every: digest,
    timeOfDay: digestAt ?? defaultDigestAt,
    timezone: digestTimezone ?? quietHours?.timezone ?? 'Etc/UTC',
  };
}

export function digestIdOf(userId: string, { every, timeOfDay, timezone }: DigestSchedule): string {
  return [userId, every, ...(timeOfDay === null ? [] : [timeOfDay, timezone])].join(' ');
}

/** Whether digests collect the message. One that waits for an acknowledgement is pushed immediately. */
export function isForDigest({ priority, requiresAck }: Pick<Message, 'priority' | 'requiresAck'>): boolean {
  return priority <= digestPriorityMax && !requiresAck;
}

const collected = 'collected for the digest at ';

/** The ledger's reason of a message that waits for a digest. */
export const collectedReason = (dueAt: number): string => `${collected}${toIso(dueAt)}`;
export const isCollected = (reason: string): boolean => reason.startsWith(collected);

const inDigest = 'in the digest at ';

/** The ledger's reason of a message that a digest contained. */
export const inDigestReason = (sentAt: number): string => `${inDigest}${toIso(sentAt)}`;
export const isInDigest = (reason: string | null): boolean => reason !== null && reason.startsWith(inDigest);
