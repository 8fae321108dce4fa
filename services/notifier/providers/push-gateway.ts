/**
 * The longest that a `send` may take: a claim on a push must outlive it, or two workers would send it. The shorter it is,
 * the sooner what a dead worker had claimed goes out: together with the queue's lease of 10 seconds within 15.
 */
export const sendTimeoutMs = 9_000;

/** A push provider. What it says about each push is told apart here once, so that nothing else knows providers. */
export interface PushGateway {
  /** The most that one `send` takes. */
  readonly batchSizeMax: number;
  /** How many bytes of JSON the content of a push may have. */
  readonly payloadBytesMax: number;

  /**
   * Hands the pushes to the provider; resolves within `sendTimeoutMs` with a result for each, in the same order. Never
   * rejects: what went wrong is in the results. Tries nothing twice by itself.
   */
  send(batch: readonly PushRequest[]): Promise<PushResult[]>;

  /**
   * What became of accepted pushes that came with a ticket, by ticket; one that is not in the answer is not known yet.
   * At most as many as one `send` takes. Absent where the provider's first answer is its last.
   */
  readonly receipts?: (tickets: readonly string[]) => Promise<Receipts>;

  close(): Promise<void>;
}

export type Receipts =
  | { readonly kind: 'answered'; readonly results: ReadonlyMap<string, PushResult> }
  /** Not now: as for a push. */
  | { readonly kind: 'retry'; readonly reason: string; readonly afterMs?: number; readonly remedy?: string };

/** What a push shows and carries. The keys of `data` are interface. */
export interface PushContent {
  readonly title: string;
  readonly body: string;
  readonly data: PushData;
}

export type PushEvent = 'message_edited' | 'message_deleted';

export type PushData =
  | {
      readonly message_id: string;
      readonly topic: string;
      readonly topic_id: string;
      readonly priority: number;
      readonly tags: readonly string[];
      /** What happened to a message that was pushed before; absent: it is new. */
      readonly event?: PushEvent;
    }
  | {
      /** Why it tells a number instead of a message. */
      readonly summary: 'quiet_hours' | 'max_per_minute';
      readonly count: number;
      readonly topic: string;
      readonly topic_id: string;
    }
  | { readonly test: true };

export interface PushRequest {
  readonly pushToken: string;
  readonly content: PushContent;
  /** Null: no sound. */
  readonly sound: string | null;
  readonly vibrates: boolean;
  readonly isUrgent: boolean;
  /** Pushes with the same one replace each other on the phone: what is sent twice is seen once. */
  readonly collapseId: string;
  /** After this time the provider should not deliver it any more. */
  readonly expiresAt: number;
}

export type PushResult =
  /** The provider has it. `ticket`: what to ask it by for whether the phone could be reached. */
  | { readonly kind: 'accepted'; readonly ticket?: string }
  /**
   * The device is gone for good, or was never there. `since`: when the provider found out; absent where it does not say.
   * `isDoubtful`: it says the same of a token that is right and was sent to the wrong place.
   */
  | { readonly kind: 'dead-token'; readonly reason: string; readonly since?: number; readonly isDoubtful?: true }
  /**
   * Not now: again after `afterMs` at the earliest, where the provider said so. `remedy`: it refuses us and not the
   * push, and this is where the operator is to look. `isOfToken`: unless the token is of an app that is none of ours, and anybody
   * can register such a one. `isTrouble`: it would have said so of any push.
   */
  | {
      readonly kind: 'retry';
      readonly reason: string;
      readonly afterMs?: number;
      readonly remedy?: string;
      readonly isOfToken?: true;
      readonly isTrouble?: true;
    }
  /** Never in this form. */
  | { readonly kind: 'rejected'; readonly reason: string }
  /** The answer was lost: the push may have arrived. */
  | { readonly kind: 'unknown'; readonly reason: string };

/** Whether the push is to be tried again. */
export const isToComeAgain = ({ kind }: PushResult): boolean => kind === 'retry' || kind === 'unknown';
