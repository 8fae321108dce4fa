import { effect } from '@preact/signals';
import { endSession, keepSession, refreshOnce, session, type Session } from './session.ts';

/** A failed request with the server's error text. `status` is 0 if the server is unreachable. */
export class CallFailed extends Error {
  readonly status: number;
  /** The JSON of the response, if any. */
  readonly body: unknown;

  constructor(status: number, detail: string, body?: unknown) {
    super(detail);
    this.status = status;
    this.body = body;
  }
}

export interface CallOptions {
  readonly json?: unknown;
  /** Sends no credential. */
  readonly isPublic?: boolean;
  /** The credential, instead of the login of the account. */
  readonly token?: string;
  /** Completes the request even if the page closes. */
  readonly keepalive?: boolean;
}

/** After this time a request counts as failed. Longer than the server's slowest search, which takes 5 seconds. */
const timeoutMs = 30_000;
const unreachable = 'The server is unreachable. Check your connection and try again.';

/** Sends a request. Resolves with the JSON body or undefined. Throws CallFailed. Refreshes an expired login once. */
export async function call<T = undefined>(method: string, path: string, options: CallOptions = {}): Promise<T> {
  const response = await respond(method, path, options);
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
  const body: unknown = isJson ? await response.json().catch(() => incomplete(response)) : undefined;
  if (!response.ok) throw new CallFailed(response.status, detailOf(body) ?? statusText(response.status), body);
  return body as T;
}

/** Downloads a response as a file. Throws CallFailed. */
export async function download(path: string, fileName: string, options: CallOptions = {}): Promise<void> {
  const response = await respond('GET', path, options);
  if (!response.ok) throw new CallFailed(response.status, statusText(response.status));
  const link = document.createElement('a');
  link.href = URL.createObjectURL(await response.blob());
  link.download = fileName;
  link.click();
  URL.revokeObjectURL(link.href);
}

async function respond(method: string, path: string, options: CallOptions): Promise<Response> {
  if (options.token !== undefined) return send(method, path, options);
  const login = options.isPublic === true ? null : session.value;
  const response = await send(method, path, { ...options, token: login?.access_token });
  if (response.status !== 401 || login === null || !(await renew(login.access_token))) return response;
  return send(method, path, { ...options, token: session.value?.access_token });
}

/** An error is known by its status, even without the text. */
function incomplete({ ok }: Response): undefined {
  if (ok) throw new CallFailed(0, unreachable);
}

function detailOf(body: unknown): string | undefined {
  const detail = (body as { detail?: unknown } | undefined)?.detail;
  return typeof detail === 'string' ? detail : undefined;
}

function statusText(status: number): string {
  if (status >= 500) return `The server cannot process the request right now (status ${status}). Try again soon.`;
  return `The server rejected the request (status ${status}).`;
}

let current = new AbortController();

// The server would reject the requests in progress, and a refresh would bring the login back.
effect(() => {
  if (session.value !== null) return;
  current.abort();
  current = new AbortController();
});

/** Ends the login first in this browser, and then on the server. Throws CallFailed if that is unreachable. */
export async function endLogin(): Promise<void> {
  const login = session.value;
  endSession();
  if (login === null) return;
  const end = (token: string) => send('POST', '/auth/logout', { token, keepalive: true });
  if ((await end(login.access_token)).status !== 401) return;
  const refreshed = await sendRefresh(login.refresh_token);
  if (refreshed.ok) await end(((await refreshed.json()) as Session).access_token);
}

type Sent = Omit<CallOptions, 'token'> & { readonly token?: string | undefined };

async function send(method: string, path: string, { json, token, keepalive = false }: Sent): Promise<Response> {
  const cancelled = current.signal;
  try {
    return await fetch(path, {
      method,
      keepalive,
      signal: AbortSignal.any([cancelled, AbortSignal.timeout(timeoutMs)]),
      headers: {
        ...(json === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
      },
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
    });
  } catch {
    if (cancelled.aborted) throw new CallFailed(0, 'Your login has ended.');
    throw new CallFailed(0, unreachable);
  }
}

let renewing: Promise<boolean> | null = null;

/**
 * Refreshes the login. Resolves with false if that failed. Concurrent requests and tabs share one refresh: using
 * a refresh token twice would end the login.
 */
function renew(failedToken: string): Promise<boolean> {
  if (session.value !== null && session.value.access_token !== failedToken) return Promise.resolve(true);
  renewing ??= refreshOnce(failedToken, refresh).finally(() => {
    renewing = null;
  });
  return renewing;
}

async function refresh(): Promise<boolean> {
  const refreshToken = session.value?.refresh_token;
  if (refreshToken === undefined) return false;
  const response = await sendRefresh(refreshToken);
  if (response.ok) keepSession((await response.json()) as Session);
  // Other errors, such as an overloaded server, do not mean that the login is invalid.
  else if (response.status === 401) endSession();
  return response.ok;
}

const sendRefresh = (refreshToken: string): Promise<Response> =>
  send('POST', '/auth/refresh', { json: { refresh_token: refreshToken }, keepalive: true });
