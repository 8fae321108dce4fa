import type { Device, Platform } from '../domain/push/device.ts';
import type { Message } from '../domain/messages/message.ts';
import type { MobileSettings, Subscription } from '../domain/push/subscription.ts';
import type { Collection } from './documents.ts';

/**
 * Who a message is to be pushed to, and what became of each push: the walk over a topic's recipients and the
 * delivery ledger. Both are large, so they have a port of their own beside the documents.
 *
 * The recipients are the `subscriptions` and `devices` of the document store, read by the driver's own queries.
 * Guarantee: a (message, device) is claimed by one caller at a time, across processes and their deaths.
 * Every call throws AppError `unavailable` when the store cannot be reached.
 */
export interface Deliveries {
  /**
   * A page of the topic's subscriptions whose mobile settings let the message through (see passesMobileFilter), in
   * order of subscription id, each with its user's active devices; subscriptions without one are in the page too, with
   * an empty list. `next` is the cursor of the next page, null after the last. A page can be shorter than `limit`, or
   * empty, and not be the last: a driver looks at a bounded number of subscriptions at once.
   */
  recipients(
    match: { topicId: string; message: Pick<Message, 'priority' | 'tags'> },
    page: { after: string | null; limit: number },
  ): Promise<{ recipients: Recipient[]; next: string | null }>;

  /** Whether the topic has any subscription with mobile notifications enabled. */
  hasRecipients(topicId: string): Promise<boolean>;

  /**
   * Claims pushes before they are sent: stores a `pending` row where there is none, takes over a `retrying` one that is
   * due, and a `pending` one whose claim is older than `staleAfterMs` (its owner died; the outcome is unknown).
   * Where `again` says so, rows that are over are taken over as well, never one that is `sent`.
   * Resolves with the claimed rows' device ids: only these may be sent. `attempts` of a claimed row grows by one.
   * All claims are of one message, at most 1,000; throws RangeError else.
   */
  claim(
    claims: readonly Claim[],
    at: { now: number; staleAfterMs: number; again?: readonly RevivableStatus[] },
  ): Promise<Set<string>>;

  /**
   * Stores outcomes; a row that is not there yet (a skip needs no claim) is made. Of several of one push the last counts.
   * What is `sent` stays so against a later `skipped` or `retrying`: these come from a worker that did not know.
   */
  record(outcomes: readonly Outcome[], now: number): Promise<void>;

  /**
   * The message's rows, of one user, of some devices (at most 1,000) or of all, in order of device id; at most `limit`, of
   * all with the cursor `after` those that come after this device.
   */
  find(
    messageId: string,
    filter: { userId?: string; deviceIds?: readonly string[]; after?: string; limit: number },
  ): Promise<Delivery[]>;

  /** How many rows of the message have each status; every status has an entry. */
  counts(messageId: string): Promise<Record<DeliveryStatus, number>>;

  /** Removes rows last updated before the time, at most `limit`; resolves with how many went. */
  removeBefore(time: number, limit: number): Promise<number>;

  /** Removes rows of pushes to the user, at most `limit`; resolves with how many went. A claim under way may store one again. */
  removeOfUser(userId: string, limit: number): Promise<number>;

  close(): Promise<void>;
}

/** How long the ledger answers why a push did or did not come, since the last that happened to it. */
export const ledgerMs = 7 * 86_400_000;

/** The documents that recipients are made from: the driver reads them by its own queries. */
export interface RecipientCollections {
  readonly subscriptions: Collection<Subscription>;
  readonly devices: Collection<Device>;
}

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

/** What a push that did not reach its device ended with. */
export const revivable = ['failed', 'skipped', 'dead_token'] as const satisfies readonly DeliveryStatus[];
export type RevivableStatus = (typeof revivable)[number];

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
  /** Why: the rule, the provider's answer. Null for a plain `sent`. */
  readonly reason: string | null;
  /** For `retrying`: not to be claimed before this time. */
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
