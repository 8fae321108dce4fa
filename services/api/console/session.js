/** Session storage key of the login: limited to this tab and origin, never part of a URL. */
const storedAs = 'tocsin.session';

/** A failed request with the server's error text. `status` is 0 if the server is unreachable. */
export class CallFailed extends Error {
  constructor(status, detail) {
    super(detail);
    this.status = status;
  }
}

/** `{access_token, refresh_token, user?}`; null without a login. */
export function session() {
  return JSON.parse(sessionStorage.getItem(storedAs) ?? 'null');
}

export function keepSession({ access_token, refresh_token, user = session()?.user ?? null }) {
  sessionStorage.setItem(storedAs, JSON.stringify({ access_token, refresh_token, user }));
}

const providerLoginStoredAs = 'tocsin.provider-login';

/** Starts a login with a provider. Returns a value that the provider's redirect must bring back to this tab. */
export function beginProviderLogin() {
  // randomUUID does not exist on pages without HTTPS.
  const marker = [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16)).join('-');
  sessionStorage.setItem(providerLoginStoredAs, marker);
  return marker;
}

/** Whether this tab began the login. Only once, so that a link of another site cannot replace the session. */
export function endProviderLogin(marker) {
  const expected = sessionStorage.getItem(providerLoginStoredAs);
  sessionStorage.removeItem(providerLoginStoredAs);
  return expected !== null && marker === expected;
}

export function endSession() {
  sessionStorage.removeItem(storedAs);
}

/** Sends a request. Resolves with the JSON body or undefined. Throws CallFailed. Refreshes an expired login once. */
export async function call(method, path, { json, isPublic = false } = {}) {
  const login = isPublic ? null : session();
  let response = await send(method, path, { json, token: login?.access_token });
  if (response.status === 401 && login !== null) {
    if (await renew(login.access_token)) response = await send(method, path, { json, token: session().access_token });
  }
  const body = response.headers.get('content-type')?.startsWith('application/json') ? await response.json() : undefined;
  if (!response.ok)
    throw new CallFailed(response.status, body?.detail ?? `The server returned status ${response.status}`);
  return body;
}

async function send(method, path, { json, token }) {
  try {
    return await fetch(path, {
      method,
      headers: {
        ...(json === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
      },
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
    });
  } catch {
    throw new CallFailed(0, 'The server is unreachable. Try again later.');
  }
}

let renewing = null;

/**
 * Refreshes the login. Resolves with false if that failed. Concurrent requests share one refresh, because using a
 * refresh token twice would end the login.
 */
function renew(failedToken) {
  if (session() !== null && session().access_token !== failedToken) return Promise.resolve(true);
  renewing ??= refresh().finally(() => {
    renewing = null;
  });
  return renewing;
}

async function refresh() {
  const refreshToken = session()?.refresh_token;
  if (refreshToken === undefined) return false;
  const response = await send('POST', '/auth/refresh', { json: { refresh_token: refreshToken } });
  if (response.ok) keepSession(await response.json());
  // Other errors, such as an overloaded server, do not mean that the login is invalid.
  else if (response.status === 401) endSession();
  return response.ok;
}
