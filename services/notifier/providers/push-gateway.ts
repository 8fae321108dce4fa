import type { MessageAction } from '@tocsin/shared/domain/messages/message-extras.ts';

/**
 * The time limit of `send`. A claim must outlive it, otherwise two workers would send the push. The shorter it is,
 * the sooner the claims of a dead worker are retried: with the queue's lease of 10 seconds, within 15 seconds.
 */
export const sendTimeoutMs = 9_000;

/**
 * A push provider. Gateways map provider responses to common results, so that other code is independent of providers.
 */
export interface PushGateway {
  /** The maximum number of pushes per `send`. */
  readonly batchSizeMax: number;
  /** The maximum size of a push's content as JSON, in bytes. */
  readonly payloadBytesMax: number;

  /**
   * Sends the pushes to the provider; resolves within `sendTimeoutMs` with a result per push, in the same order. Never
   * rejects; the results contain failures. Does not retry.
   */
  send(batch: readonly PushRequest[]): Promise<PushResult[]>;

  /**
   * Returns the receipts of accepted pushes by ticket; a missing ticket has no receipt yet.
   * At most as many as per `send`. Absent if the provider has no receipts.
   */
  readonly receipts?: (tickets: readonly string[]) => Promise<Receipts>;

  close(): Promise<void>;
}

export type Receipts =
  | { readonly kind: 'answered'; readonly results: ReadonlyMap<string, PushResult> }
  | Extract<PushResult, { kind: 'retry' }>;

/** The content of a push. The keys of `data` are part of the public interface. */
export interface PushContent {
  readonly title: string;
  readonly body: string;
  /** Null for none. Apps register the buttons of each category. */
  readonly category: PushCategory | null;
  readonly data: PushData;
}

/** `tocsin.ack`: the message can be acknowledged; `tocsin.actions`: it has other buttons only. */
export type PushCategory = 'tocsin.ack' | 'tocsin.actions';

export type PushEvent = 'message_edited' | 'message_deleted' | 'message_acknowledged';

/** The data of a message's push. */
export interface MessageData {
  readonly topic: string;
  readonly message_id: string;
  readonly offset: number;
  readonly priority: number;
  /** Absent if it does not fit. */
  readonly click?: string | null;
  /** Absent if they do not fit. */
  readonly actions?: readonly MessageAction[];
  readonly requires_ack: boolean;
  readonly sent_at: string;
  readonly topic_id: string;
  readonly tags: readonly string[];
  /** The change of a message that was pushed before; absent for a new message. */
  readonly event?: PushEvent;
  /** `POST` to it acknowledges the message; absent if the message has no acknowledgement. */
  readonly ack_url?: string;
}

export type PushData =
  | MessageData
  | {
      /** Why the push is a summary. */
      readonly summary: 'quiet_hours' | 'max_per_minute';
      readonly count: number;
      readonly topic: string;
      readonly topic_id: string;
    }
  | {
      readonly event: 'digest';
      /** The number of messages. */
      readonly count: number;
      readonly topic_count: number;
      /** Topics with the newest messages first. */
      readonly topics: readonly { readonly topic: string; readonly topic_id: string; readonly count: number }[];
      readonly sent_at: string;
    }
  | { readonly test: true };

/**
 * How a push interrupts: `low` without sound, vibration and banner; `urgent` through a focus mode; `critical` also on
 * a muted phone, which needs an entitlement of the app.
 */
export type PushLevel = 'low' | 'default' | 'high' | 'urgent' | 'critical';

export interface PushRequest {
  readonly pushToken: string;
  readonly content: PushContent;
  readonly level: PushLevel;
  /** Null means no sound. Never heard on the level `low`. */
  readonly sound: string | null;
  readonly vibrates: boolean;
  /** The number on the app's icon; null leaves it as it is. Browsers have none. */
  readonly badge: number | null;
  /** Pushes with the same ID replace each other on the device, so that duplicates are shown once. */
  readonly collapseId: string;
  /** After this time the provider should not deliver the push. */
  readonly expiresAt: number;
}

export type PushResult =
  /** The provider accepted the push. `ticket` identifies its receipt. */
  | { readonly kind: 'accepted'; readonly ticket?: string }
  /**
   * The token is permanently invalid. `since` is when the provider noticed; absent if it does not say.
   * `isDoubtful`: the provider returns the same for a valid token in the wrong environment.
   */
  | { readonly kind: 'dead-token'; readonly reason: string; readonly since?: number; readonly isDoubtful?: true }
  /**
   * A temporary error: retry after `afterMs` at the earliest, if the provider stated it. `remedy`: the provider rejects
   * the installation, not the push, and this tells the operator what to check. `isOfToken`: the cause may be a token of
   * a foreign app, which anyone can register. `isTrouble`: the error would affect any push.
   */
  | {
      readonly kind: 'retry';
      readonly reason: string;
      readonly afterMs?: number;
      readonly remedy?: string;
      readonly isOfToken?: true;
      readonly isTrouble?: true;
    }
  /** Rejected permanently. */
  | { readonly kind: 'rejected'; readonly reason: string }
  /** The response was lost; the push may have arrived. */
  | { readonly kind: 'unknown'; readonly reason: string };

/** Whether the push must be retried. */
export const isToComeAgain = ({ kind }: PushResult): boolean => kind === 'retry' || kind === 'unknown';
