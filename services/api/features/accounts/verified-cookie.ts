import type { ApiDeps } from '../../api-deps.ts';

/** What the page of a verified address shows. */
export interface Verified {
  readonly username: string;
  /** The token of `POST /auth/verify-email/undo`, for a new account. */
  readonly removal?: string;
}

/** Enough to open the page. */
const lifetimeSeconds = 600;

/**
 * A cookie for the console's page of a verified address, whose script reads it: it keeps the token out of URLs, and so
 * out of logs and the browser's history.
 */
export function verifiedCookie({ baseUrl }: Pick<ApiDeps, 'baseUrl'>, verified: Verified): string {
  const value = Buffer.from(JSON.stringify(verified)).toString('base64url');
  const secure = baseUrl.startsWith('https:') ? '; Secure' : '';
  return `tocsin_verified=${value}; Max-Age=${lifetimeSeconds}; Path=/auth/verified; SameSite=Lax${secure}`;
}
