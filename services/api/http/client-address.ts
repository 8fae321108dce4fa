import type { IncomingMessage } from 'node:http';
import { isIPv6 } from 'node:net';
import { trustedProxies } from '@tocsin/shared/platform/trusted-proxies.ts';
import proxyaddr from 'proxy-addr';

/** Determines the client address of a request. */
export type ClientAddress = (request: IncomingMessage) => string;

/**
 * The address for rate limits: IPv4 completely, IPv6 by /64. `trustProxy` is TRUST_PROXY; without trusted
 * proxies it is the peer's address. Throws a TypeError for a value that `trustedProxies` does not accept.
 */
export function clientAddress(trustProxy: string): ClientAddress {
  const whole = wholeAddress(trustProxy);
  return (request) => budgetAddress(whole(request));
}

/** The complete address, for records. */
export function wholeAddress(trustProxy: string): ClientAddress {
  const trust = trustedProxies(trustProxy);
  return (request) => plainAddress(trust === null ? (request.socket.remoteAddress ?? '') : proxyaddr(request, trust));
}

/** Removes a port and brackets, and converts an IPv4-mapped IPv6 address to IPv4. Some proxies send such forms. */
export function plainAddress(text: string): string {
  const address = /^\[(.+)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text;
  if (!isIPv6(address)) return address;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped; // as Node writes it
  // The URL parser writes the last two groups in hexadecimal.
  const canonical = URL.parse(`http://[${address.split('%')[0]}]`)?.hostname ?? '';
  const [, high, low] = /^\[::ffff:([\da-f]+):([\da-f]+)\]$/.exec(canonical) ?? [];
  if (high === undefined || low === undefined) return address;
  const [first, second] = [Number.parseInt(high, 16), Number.parseInt(low, 16)];
  return [first >> 8, first & 255, second >> 8, second & 255].join('.');
}

/** The address that limits count: IPv4 completely, IPv6 by /64. */
export function budgetAddress(address: string): string {
  return isIPv6(address) ? `${groupsOf(address).slice(0, 4).join(':')}::/64` : address;
}

/** The network of a client, which stays the same when a provider gives it another address: IPv4 by /24, IPv6 by /48. */
export function networkOf(address: string): string {
  if (isIPv6(address)) return `${groupsOf(address).slice(0, 3).join(':')}::/48`;
  return `${address.split('.').slice(0, 3).join('.')}.0/24`;
}

/** The eight groups of an IPv6 address, without leading zeros. */
function groupsOf(address: string): string[] {
  const [head = '', tail] = address.split('%')[0]!.split('::', 2);
  const start = head === '' ? [] : head.split(':');
  const end = tail === undefined || tail === '' ? [] : tail.split(':');
  const groups = [...start, ...Array<string>(Math.max(0, 8 - start.length - end.length)).fill('0'), ...end];
  return groups.map((group) => Number.parseInt(group, 16).toString(16));
}
