/** Who can vouch for a person. The names are those of paths and of `oauth_provider`. */
export const identityProviders = ['google', 'apple'] as const;
export type IdentityProvider = (typeof identityProviders)[number];

/**
 * That a person at an identity provider is an account here. The subject is the provider's name for the person and never
 * changes, while addresses do. An account can have several, one person at a provider has one account.
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
