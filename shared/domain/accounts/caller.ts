import type { Actor } from '../messages/actor.ts';
import type { Scope, TopicPermission } from './credentials.ts';
import type { Tier } from './tiers.ts';

/** The sender of a request, as its credential proves. */
export type Caller = AnonymousCaller | AccountCaller | TopicTokenCaller;

export interface AnonymousCaller {
  readonly kind: 'anonymous';
  /** The client address that rate limits count: an IPv4 address or an IPv6 /64 prefix. */
  readonly address: string;
}

/** An account that authenticated with a login or an API key. */
export interface AccountCaller {
  readonly kind: 'account';
  readonly userId: string;
  /** The username of a login, or the name of an API key. */
  readonly name: string;
  /** The effective tier. */
  readonly tier: Tier;
  /** The scopes of an API key; null for a login, which is not limited. */
  readonly scopes: readonly Scope[] | null;
  /** ID of the login session or API key. */
  readonly credentialId: string;
  /** Expiry of the credential in milliseconds since the epoch; null if it does not expire. */
  readonly expiresAt: number | null;
}

export interface TopicTokenCaller {
  readonly kind: 'topic-token';
  readonly topicId: string;
  readonly name: string;
  readonly permissions: readonly TopicPermission[];
  readonly credentialId: string;
  readonly expiresAt: number | null;
}

/** The owner of an Idempotency-Key: the account, the topic token, or the client address of an anonymous caller. */
export function publisherId(caller: Caller): string {
  switch (caller.kind) {
    case 'anonymous':
      return `address:${caller.address}`;
    case 'account':
      return `account:${caller.userId}`;
    case 'topic-token':
      return `token:${caller.credentialId}`;
  }
}

/** The caller as readers see it. */
export function actorOf(caller: Caller): Actor {
  switch (caller.kind) {
    case 'anonymous':
      return { kind: 'anonymous', name: null, accountId: null };
    case 'account':
      return { kind: caller.scopes === null ? 'account' : 'api_key', name: caller.name, accountId: caller.userId };
    case 'topic-token':
      return { kind: 'topic_token', name: caller.name, accountId: null };
  }
}
