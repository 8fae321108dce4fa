import { ECDH } from 'node:crypto';
import { z } from 'zod';
import { isWebPushHost } from '../domain/push/web-push-hosts.ts';

/** The subscription of a browser, as `PushSubscription.toJSON()` returns it. */
export interface WebPushSubscription {
  readonly endpoint: string;
  readonly keys: { readonly p256dh: string; readonly auth: string };
}

const endpointCharactersMax = 2_048;
/** An uncompressed point of P-256 and the shared secret of RFC 8291. */
const [pointBytes, secretBytes] = [65, 16];

const shape = z.object({ endpoint: z.string(), keys: z.object({ p256dh: z.string(), auth: z.string() }) });

/**
 * Parses the subscription of a browser, which is the push token of a `web` device. Returns it without the members that
 * do not matter, so that the same subscription is always the same text; or what is wrong with it.
 */
export function readWebPushSubscription(
  text: string,
  hosts: readonly string[],
): { readonly subscription: WebPushSubscription } | { readonly fault: string } {
  const parsed = shape.safeParse(parseJson(text));
  if (!parsed.success)
    return { fault: 'must be the JSON of a browser subscription: {"endpoint", "keys": {"p256dh", "auth"}}' };
  const { endpoint, keys } = parsed.data;
  const fault = endpointFault(endpoint, hosts);
  if (fault !== null) return { fault: `endpoint ${fault}` };
  const [point, secret] = [decoded(keys.p256dh), decoded(keys.auth)];
  if (point?.length !== pointBytes || !isOnCurve(point)) return { fault: 'keys.p256dh must be a point of P-256' };
  if (secret?.length !== secretBytes) return { fault: `keys.auth must have ${secretBytes} bytes` };
  return {
    subscription: {
      endpoint: new URL(endpoint).href,
      keys: { p256dh: point.toString('base64url'), auth: secret.toString('base64url') },
    },
  };
}

function endpointFault(endpoint: string, hosts: readonly string[]): string | null {
  if (endpoint.length > endpointCharactersMax) return `must have at most ${endpointCharactersMax} characters`;
  const url = URL.parse(endpoint);
  if (url === null || url.protocol !== 'https:') return 'must be an https URL';
  if (url.username !== '' || url.password !== '') return 'must not contain credentials';
  if (url.hash !== '') return 'must not contain a fragment';
  return isWebPushHost(url.host, hosts) ? null : `must be on a known push service, not on ${url.host}`;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function decoded(text: string): Buffer | null {
  return /^[\w-]+={0,2}$/.test(text) ? Buffer.from(text, 'base64url') : null;
}

/** A point that is not on the curve would fail at every push, or reveal bits of a private key. */
function isOnCurve(point: Buffer): boolean {
  try {
    return point[0] === 4 && ECDH.convertKey(point, 'prime256v1') !== undefined;
  } catch {
    return false;
  }
}
