import type { Scope, TopicPermission } from './credentials.ts';
import type { Tier } from './tiers.ts';

/** Who makes a request, as far as its one credential proves it. */
export type Caller = AnonymousCaller | AccountCaller | TopicTokenCaller;

export interface AnonymousCaller {
  readonly kind: 'anonymous';
  /** The address that budgets are counted by: an IPv4 address or an IPv6 /64. */
  readonly address: string;
}

/** An account, by a login or an API key. */
export interface AccountCaller {
  readonly kind: 'account';
  readonly userId: string;
  /** The tier in force. */
  readonly tier: Tier;
  /** What an API key is limited to; null for a login, which may do everything. */
  readonly scopes: readonly Scope[] | null;
  /** The id of the login session or the API key. */
  readonly credentialId: string;
  /** When the credential ends, milliseconds since the epoch; null: never. */
  readonly expiresAt: number | null;
}

export interface TopicTokenCaller {
  readonly kind: 'topic-token';
  readonly topicId: string;
  readonly permissions: readonly TopicPermission[];
  readonly credentialId: string;
  readonly expiresAt: number | null;
}

/** Who a publish under an Idempotency-Key is from: the account, the topic token, or the address without either. */
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
