import type { CredentialRef } from './credentials.ts';

/** A session that opens streams for clients that cannot send headers. Times are milliseconds since the epoch. */
export interface StreamSession {
  /** SHA-256 of the client's session ID, hex. */
  readonly id: string;
  readonly version: number;
  /** The credential that created the session; authorized again for each stream. */
  readonly credential: CredentialRef;
  /** In request order. */
  readonly topics: readonly SessionTopic[];
  /** Where streams start that name no message: pairs of name key and message ID; null means live only. */
  readonly sinceIds: readonly (readonly [string, string])[] | null;
  readonly createdAt: number;
  /** Extended while a stream is open. */
  readonly expiresAt: number;
}

export interface SessionTopic {
  readonly id: string;
  /** All name keys that the topic has had during the session, latest last. Event IDs may contain an earlier one. */
  readonly nameKeys: readonly string[];
}
