/** Identity providers. The names are used in paths and in `oauth_provider`. */
export const identityProviders = ['google', 'apple'] as const;
export type IdentityProvider = (typeof identityProviders)[number];

/**
 * Links a person at an identity provider to an account. The subject is the provider's identifier for the person and
 * never changes, unlike email addresses. An account can have several identities; an identity belongs to one account.
 */
export interface Identity {
  readonly id: string;
  readonly version: number;
  readonly provider: IdentityProvider;
  readonly subject: string;
  readonly userId: string;
  /** Milliseconds since the epoch. */
  readonly linkedAt: number;
}
