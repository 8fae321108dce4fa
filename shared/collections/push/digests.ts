import type { DigestInterval } from '../../domain/push/subscription.ts';
import type { Platform } from '../../domain/push/device.ts';
import type { Collection, Document } from '../../ports/documents.ts';

/**
 * The next digest of a user for all subscriptions with the same schedule; exists while messages wait for it. Its ID
 * consists of both. Times are milliseconds since the epoch.
 */
export interface Digest extends Document {
  readonly userId: string;
  readonly every: DigestInterval;
  /** For `1d`; otherwise null. */
  readonly timeOfDay: string | null;
  readonly timezone: string | null;
  /** When a notifier sends it; while one does, when another one takes over. */
  readonly dueAt: number;
  /** The clock when `dueAt` was set. */
  readonly decidedAt: number;
  /** When a notifier began to send it; null while it collects. */
  readonly claimedAt: number | null;
  /** Failed attempts. */
  readonly round: number;
  /** No retries after this time; null before the first failure. */
  readonly giveUpAt: number | null;
}

export const digests: Collection<Digest> = {
  name: 'digests',
  fields: {
    userId: 'text',
    every: 'text',
    timeOfDay: 'text',
    timezone: 'text',
    dueAt: 'time',
    decidedAt: 'time',
    claimedAt: 'time',
    round: 'integer',
    giveUpAt: 'time',
  },
  uniqueKeys: {},
  indexes: { byDue: ['dueAt'], byDecision: ['decidedAt'], byUser: ['userId'] },
};

/** A message that waits for a digest. Its ID consists of user and message. */
export interface DigestItem extends Document {
  readonly digestId: string;
  readonly userId: string;
  readonly subscriptionId: string;
  readonly topicId: string;
  readonly messageId: string;
  /** The devices that did not get it yet. */
  readonly devices: readonly { readonly deviceId: string; readonly platform: Platform }[];
  readonly collectedAt: number;
}

export const digestItems: Collection<DigestItem> = {
  name: 'digestItems',
  fields: {
    digestId: 'text',
    userId: 'text',
    subscriptionId: 'text',
    topicId: 'text',
    messageId: 'text',
    devices: 'json',
    collectedAt: 'time',
  },
  uniqueKeys: {},
  indexes: { byDigest: ['digestId', 'collectedAt'], byUser: ['userId'] },
};
