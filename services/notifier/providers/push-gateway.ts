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
  readonly data: PushData;
}

export type PushEvent = 'message_edited' | 'message_deleted' | 'message_acknowledged';

export type PushData =
  | {
      readonly message_id: string;
      readonly topic: string;
      readonly topic_id: string;
      readonly priority: number;
      readonly tags: readonly string[];
      /** The change of a message that was pushed before; absent for a new message. */
      readonly event?: PushEvent;
      /** `POST` to it acknowledges the message; absent if the message has no acknowledgement. */
      readonly ack_url?: string;
    }
  | {
      /** Why the push is a summary. */
      readonly summary: 'quiet_hours' | 'max_per_minute';
      readonly count: number;
      readonly topic: string;
      readonly topic_id: string;
    }
  | { readonly test: true };

export interface PushRequest {
  readonly pushToken: string;
  readonly content: PushContent;
  /** Null means no sound. */
  readonly sound: string | null;
  readonly vibrates: boolean;
  readonly isUrgent: boolean;
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
