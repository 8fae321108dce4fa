import type { IncomingMessage } from 'node:http';
import { isSignedText, makeSecret, signText } from '@tocsin/shared/platform/secrets.ts';
import type { ApiDeps } from '../api-deps.ts';

const name = 'tocsin_device';
const purpose = 'known-device';
const lifetimeSeconds = 400 * 86_400;
const form = new RegExp(`(?:^|;)\\s*${name}=(?<device>[A-Za-z0-9_-]{43})\\.(?<proof>[A-Za-z0-9_-]{22})(?:;|$)`);

/**
 * The cookie of a device on which the account logged in
 * (https://owasp.org/www-community/Slow_Down_Online_Guessing_Attacks_with_Device_Cookies). Other people's failed logins
 * do not slow down such a device. It gives no access.
 */
export function deviceCookie({ baseUrl, engine }: Pick<ApiDeps, 'baseUrl' | 'engine'>, userId: string): string {
  const device = makeSecret();
  const proof = signText(engine.jwtSecrets[0]!, purpose, `${userId} ${device}`);
  const secure = baseUrl.startsWith('https:') ? '; Secure' : '';
  return `${name}=${device}.${proof}; Max-Age=${lifetimeSeconds}; Path=/auth; HttpOnly; SameSite=Lax${secure}`;
}

/** Whether the request is from a device on which the account logged in. */
export function isKnownDevice({ engine }: Pick<ApiDeps, 'engine'>, request: IncomingMessage, userId: string): boolean {
  const { device, proof } = form.exec(request.headers.cookie ?? '')?.groups ?? {};
  if (device === undefined || proof === undefined) return false;
  return isSignedText(engine.jwtSecrets, purpose, { text: `${userId} ${device}`, proof });
}
