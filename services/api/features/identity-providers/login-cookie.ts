import type { IncomingMessage } from 'node:http';
import type { Clock } from '@tocsin/shared/platform/clock.ts';
import { errors, jwtVerify, SignJWT } from 'jose';

/** The values with which the same browser must finish a sign-in. */
export interface BegunLogin {
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
  /** Chosen by the app, which gets it back. */
  readonly appState: string | null;
}

/** Binds a sign-in to the browser that started it. The server stores nothing, so that any node can finish it. */
export interface LoginCookie {
  /** The `Set-Cookie` value that stores it for ten minutes. */
  keep(login: BegunLogin): Promise<string>;
  /** The content of the request's cookie; null if it is absent, older than ten minutes or not ours. */
  read(request: IncomingMessage): Promise<BegunLogin | null>;
  /** The `Set-Cookie` value that removes it. */
  readonly end: string;
}

const lifetimeSeconds = 600;
const tokenType = 'begun-login+jwt';
const algorithm = 'HS256';

/** `name` is the cookie name; with an https `baseUrl` (the public URL of the API) the cookie is Secure. */
export function loginCookie(options: {
  name: string;
  path: string;
  baseUrl: string;
  secrets: readonly string[];
  clock: Clock;
}): LoginCookie {
  const { name, clock } = options;
  const keys = options.secrets.map((secret) => new TextEncoder().encode(secret));
  const form = new RegExp(`(?:^|;)\\s*${name}=([^;\\s]+)`);
  // Lax, because the provider redirects the browser back from another site.
  const attributes = `Path=${options.path}; HttpOnly; SameSite=Lax${options.baseUrl.startsWith('https:') ? '; Secure' : ''}`;
  return {
    async keep(login) {
      const now = Math.floor(clock() / 1_000);
      const token = await new SignJWT({ ...login })
        .setProtectedHeader({ alg: algorithm, typ: tokenType })
        .setIssuedAt(now)
        .setExpirationTime(now + lifetimeSeconds)
        .sign(keys[0]!);
      return `${name}=${token}; Max-Age=${lifetimeSeconds}; ${attributes}`;
    },
    async read(request) {
      const token = form.exec(request.headers.cookie ?? '')?.[1];
      return token === undefined ? null : open(token, keys, clock());
    },
    end: `${name}=; Max-Age=0; ${attributes}`,
  };
}

async function open(token: string, keys: readonly Uint8Array[], now: number): Promise<BegunLogin | null> {
  for (const key of keys) {
    try {
      const { payload } = await jwtVerify<BegunLogin>(token, key, {
        algorithms: [algorithm],
        typ: tokenType,
        currentDate: new Date(now),
        requiredClaims: ['exp', 'state', 'nonce', 'codeVerifier'],
      });
      const { state, nonce, codeVerifier, appState = null } = payload;
      return { state, nonce, codeVerifier, appState };
    } catch (error) {
      if (!(error instanceof errors.JOSEError)) throw error;
    }
  }
  return null;
}
