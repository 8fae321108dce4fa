import { signal } from '@preact/signals';

/** The logged-in account as every login response describes it. */
export interface SessionUser {
  readonly id: string;
  readonly email: string;
  readonly username: string;
  readonly subscription_tier: string;
}

export interface Session {
  readonly access_token: string;
  readonly refresh_token: string;
  /** Null between a provider login, which only brings tokens, and the first request. */
  readonly user: SessionUser | null;
}

/** Session storage key of the login: limited to this tab and origin, never part of a URL. */
const storedAs = 'tocsin.session';

/** Null without a login. */
export const session = signal<Session | null>(JSON.parse(sessionStorage.getItem(storedAs) ?? 'null') as Session | null);

/** Stores new tokens. Keeps the user if the response does not contain one. */
export function keepSession(login: Omit<Session, 'user'> & { readonly user?: SessionUser | null }): void {
  const { access_token, refresh_token, user = session.value?.user ?? null } = login;
  session.value = { access_token, refresh_token, user };
  sessionStorage.setItem(storedAs, JSON.stringify(session.value));
}

export function endSession(): void {
  sessionStorage.removeItem(storedAs);
  session.value = null;
}

const providerLoginStoredAs = 'tocsin.provider-login';

/** Starts a login with a provider. Returns a value that the provider's redirect must bring back to this tab. */
export function beginProviderLogin(): string {
  // randomUUID does not exist on pages without HTTPS.
  const marker = [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16)).join('-');
  sessionStorage.setItem(providerLoginStoredAs, marker);
  return marker;
}

/** Whether this tab began the login. Only once, so that a link of another site cannot replace the session. */
export function endProviderLogin(marker: string | null): boolean {
  const expected = sessionStorage.getItem(providerLoginStoredAs);
  sessionStorage.removeItem(providerLoginStoredAs);
  return expected !== null && marker === expected;
}
