import { signal } from '@preact/signals';
import { del, get, set } from 'idb-keyval';

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

/** Storage key of the login: limited to this origin, never part of a URL. */
const storedAs = 'tocsin.session';

/**
 * All tabs share the login. A tab without Web Locks (a page over plain HTTP) has its own, because two tabs could use
 * the same refresh token concurrently, which ends the login.
 */
const storage = 'locks' in navigator ? localStorage : sessionStorage;

const stored = (): Session | null => JSON.parse(storage.getItem(storedAs) ?? 'null') as Session | null;

/** Null without a login. */
export const session = signal<Session | null>(stored());

/** Stores new tokens. Keeps the user if the response does not contain one. */
export function keepSession(login: Omit<Session, 'user'> & { readonly user?: SessionUser | null }): void {
  const { access_token, refresh_token, user = session.value?.user ?? null } = login;
  session.value = { access_token, refresh_token, user };
  storage.setItem(storedAs, JSON.stringify(session.value));
}

export function endSession(): void {
  storage.removeItem(storedAs);
  void del(storedAs).catch(noDatabase);
  session.value = null;
}

/**
 * Takes over what another tab stored: a login, its renewal or its end. Returns false if it is the login of another
 * account: the page, which shows data of the earlier one, then reloads.
 */
function adoptStored(): boolean {
  const [before, now] = [session.value, stored()];
  const isOtherAccount = before !== null && now !== null && before.user?.id !== now.user?.id && before.user !== null;
  if (isOtherAccount) location.reload();
  else session.value = now;
  return !isOtherAccount;
}

addEventListener('storage', ({ key }) => {
  // The key is null if the whole storage was cleared.
  if (storage === localStorage && (key === storedAs || key === null)) adoptStored();
});

/** Some private windows have no IndexedDB. */
const noDatabase = (): undefined => undefined;

/** The last refresh of this browser. */
interface Refreshed {
  /** The access token that it replaced. */
  readonly failedToken: string;
  readonly session: Session | null;
}

/**
 * Calls `refresh` while no other tab refreshes the login. Skips it if another tab already replaced `failedToken` or
 * ended the login. Resolves with whether there is a new token.
 */
export async function refreshOnce(failedToken: string, refresh: () => Promise<boolean>): Promise<boolean> {
  if (!('locks' in navigator)) return refresh();
  return navigator.locks.request(storedAs, async () => {
    // Another process sees changes of localStorage later than the end of the lock; IndexedDB has no such delay.
    const last = await get<Refreshed>(storedAs).catch(noDatabase);
    if (last?.failedToken === failedToken) session.value = last.session;
    else if (!adoptStored()) return false;
    if (session.value === null) return false;
    if (session.value.access_token !== failedToken) return true;
    const isRefreshed = await refresh();
    if (isRefreshed || session.value === null)
      await set(storedAs, { failedToken, session: session.value }).catch(noDatabase);
    return isRefreshed;
  });
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
