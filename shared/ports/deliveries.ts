import type { Device, Platform } from '../domain/push/device.ts';
import type { Message } from '../domain/messages/message.ts';
import type { MobileSettings, Subscription } from '../domain/push/subscription.ts';
import type { Collection } from './documents.ts';

/**
 * The recipients of a message and the delivery ledger, which records the outcome of each push. Both are large, so they
 * have their own port next to the documents.
 *
 * Drivers query the `subscriptions` and `devices` collections of the document store directly. Guarantee: at most one
 * caller at a time holds the claim on a (message, device), across processes and crashes. Every call throws AppError
 * `unavailable` if the store is unreachable.
 */
export interface Deliveries {
  /**
   * Returns a page of the topic's subscriptions whose settings allow the message on some platform (see
   * passesPushFilter), in subscription ID order, each with its user's active devices of all platforms (possibly none).
   * `next` is the cursor of the next page, null after the last one. Any page can be shorter than `limit`, even empty,
   * because a call reads a limited number of subscriptions.
   */
  recipients(
    match: { topicId: string; message: Pick<Message, 'priority' | 'tags'> },
    page: { after: string | null; limit: number },
  ): Promise<{ recipients: Recipient[]; next: string | null }>;

  /** Returns those of the topics that have a subscription with mobile or web notifications on; at most 1,000 topics. */
  topicsWithRecipients(topicIds: readonly string[]): Promise<Set<string>>;

  /**
   * Returns at most `limit` subscriptions of the users (at most 1,000), in user ID order: those with and without
   * notifications, whether or not the user may still read the topic.
   */
  followedTopics(userIds: readonly string[], limit: number): Promise<FollowedTopic[]>;

  /**
   * Claims pushes before they are sent. Inserts missing rows as `pending`; takes over due `retrying` rows, and
   * `pending` rows whose claim is older than `staleAfterMs` (the owner died and the outcome is unknown). With `again`,
   * also takes over rows with these final statuses. Resolves with the claimed device IDs; send only to these.
   * Increments `attempts` of claimed rows. All claims must be for one message, at most 1,000; otherwise throws
   * RangeError.
   */
  claim(
    claims: readonly Claim[],
    at: { now: number; staleAfterMs: number; again?: readonly UndeliveredStatus[] },
  ): Promise<Set<string>>;

  /**
   * Stores outcomes and inserts missing rows (a skip needs no claim). If a push has several outcomes, the last one
   * wins. A later `skipped` or `retrying` does not overwrite `sent`, because it comes from a worker with stale data.
   */
  record(outcomes: readonly Outcome[], now: number): Promise<void>;

  /**
   * Returns at most `limit` rows of the message in device ID order, optionally of one user, of at most 1,000 devices,
   * or after the device `after`.
   */
  find(
    messageId: string,
    filter: { userId?: string; deviceIds?: readonly string[]; after?: string; limit: number },
  ): Promise<Delivery[]>;

  /** Returns the number of the message's rows per status. Every status has an entry. */
  counts(messageId: string): Promise<Record<DeliveryStatus, number>>;

  /** Removes at most `limit` rows last updated before the time; resolves with their number. */
  removeBefore(time: number, limit: number): Promise<number>;

  /**
   * Removes at most `limit` rows of pushes to the user; resolves with their number. A concurrent claim may insert one
   * again.
   */
  removeOfUser(userId: string, limit: number): Promise<number>;

  close(): Promise<void>;
}

/**
 * Recipients of a small page. Drivers may let calls for up to this many share queries, so that no call waits for a
 * larger one.
 */
export const smallPageSize = 20;

/** How long the ledger keeps a row after its last change. */
export const ledgerMs = 7 * 86_400_000;

/** The document collections that drivers query for recipients. */
export interface RecipientCollections {
  readonly subscriptions: Collection<Subscription>;
  readonly devices: Collection<Device>;
}

/** What a subscription says about the unread messages of its topic. */
export type FollowedTopic = Pick<Subscription, 'userId' | 'topicId' | 'createdAt' | 'lastViewedAt'>;

export interface Recipient {
  readonly subscriptionId: string;
  readonly userId: string;
  readonly subscribedAt: number;
  readonly settings: MobileSettings;
  readonly devices: readonly RecipientDevice[];
}

export interface RecipientDevice {
  readonly id: string;
  readonly platform: Platform;
  readonly pushToken: string;
  readonly doubtedAt: number | null;
  readonly createdAt: number;
}

export const deliveryStatuses = ['pending', 'sent', 'skipped', 'retrying', 'dead_token', 'failed'] as const;
export type DeliveryStatus = (typeof deliveryStatuses)[number];

/** The final statuses of pushes that did not reach their device. */
export const undeliveredStatuses = ['failed', 'skipped', 'dead_token'] as const satisfies readonly DeliveryStatus[];
export type UndeliveredStatus = (typeof undeliveredStatuses)[number];

export interface Claim {
  readonly messageId: string;
  readonly deviceId: string;
  readonly topicId: string;
  readonly userId: string;
  readonly subscriptionId: string;
  readonly platform: Platform;
}

export interface Outcome extends Claim {
  readonly status: Exclude<DeliveryStatus, 'pending'>;
  /** The reason: a rule or the provider's response. Null for `sent` without one. */
  readonly reason: string | null;
  /** For `retrying`: the earliest time of the next claim. */
  readonly retryAt?: number;
}

/** A row of the ledger. */
export interface Delivery extends Claim {
  readonly status: DeliveryStatus;
  readonly reason: string | null;
  readonly attempts: number;
  readonly retryAt: number | null;
  readonly updatedAt: number;
}
