import type { CredentialRef } from './credentials.ts';

/** What a client that cannot send headers opens its streams by. Times are milliseconds since the epoch. */
export interface StreamSession {
  /** SHA-256 of the session id that the client has, hex. */
  readonly id: string;
  readonly version: number;
  /** What it was made with; judged again whenever a stream is opened on it. */
  readonly credential: CredentialRef;
  /** In the order in which they were asked for. */
  readonly topics: readonly SessionTopic[];
  /** Where streams begin that say nothing themselves: pairs of name key and message id; null: live. */
  readonly sinceIds: readonly (readonly [string, string])[] | null;
  readonly createdAt: number;
  /** Moved on while a stream is open on it. */
  readonly expiresAt: number;
}

export interface SessionTopic {
  readonly id: string;
  /** The name keys that streams of the session have known it by, the latest last: positions may still hold one of them. */
  readonly nameKeys: readonly string[];
}
