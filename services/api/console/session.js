/** The login of this tab: it ends with the tab, and no other site and no address ever holds it. */
const storedAs = 'tocsin.session';

/** What went wrong, in the words of the server; `status` is 0 when it could not be reached. */
export class CallFailed extends Error {
  constructor(status, detail) {
    super(detail);
    this.status = status;
  }
}

/** `{access_token, refresh_token, user?}`; null for nobody. */
export function session() {
  return JSON.parse(sessionStorage.getItem(storedAs) ?? 'null');
}

export function keepSession({ access_token, refresh_token, user = session()?.user ?? null }) {
  sessionStorage.setItem(storedAs, JSON.stringify({ access_token, refresh_token, user }));
}

export function endSession() {
  sessionStorage.removeItem(storedAs);
}

/** Sends a request and resolves with its JSON (undefined without one). Throws CallFailed. A login that has run out is renewed once. */
export async function call(method, path, { json, isPublic = false } = {}) {
  const login = isPublic ? null : session();
  let response = await send(method, path, { json, token: login?.access_token });
  if (response.status === 401 && login !== null) {
    if (await renew(login.access_token)) response = await send(method, path, { json, token: session().access_token });
  }
  const body = response.headers.get('content-type')?.startsWith('application/json') ? await response.json() : undefined;
  if (!response.ok) throw new CallFailed(response.status, body?.detail ?? `The server answered ${response.status}`);
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
    throw new CallFailed(0, 'The server cannot be reached. Try again in a moment.');
  }
}

let renewing = null;

/**
 * Whether there is a new login in place of the one with this token. Requests that fail together share one renewal: using a
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
  // A server that is busy or away says nothing of the login.
  else if (response.status === 401) endSession();
  return response.ok;
}
