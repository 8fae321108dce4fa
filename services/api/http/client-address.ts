import type { IncomingMessage } from 'node:http';
import { isIPv6 } from 'node:net';
import { trustedProxies } from '@tocsin/shared/platform/trusted-proxies.ts';
import proxyaddr from 'proxy-addr';

/** Finds the address that a request comes from. */
export type ClientAddress = (request: IncomingMessage) => string;

/**
 * The address as budgets are counted: IPv4 whole, IPv6 by /64. `trustProxy` is TRUST_PROXY; where nobody is
 * trusted, the peer's address counts. Throws a TypeError for one that `trustedProxies` does not take.
 */
export function clientAddress(trustProxy: string): ClientAddress {
  const whole = wholeAddress(trustProxy);
  return (request) => budgetAddress(whole(request));
}

/** The same as it is, for records: an IPv6 address whole. */
export function wholeAddress(trustProxy: string): ClientAddress {
  const trust = trustedProxies(trustProxy);
  return (request) => plainAddress(trust === null ? (request.socket.remoteAddress ?? '') : proxyaddr(request, trust));
}

/** An IPv4 address in IPv6 as itself. */
const plainAddress = (address: string): string => /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address;

function budgetAddress(address: string): string {
  if (!isIPv6(address)) return address;
  const [head = '', tail] = address.split('%')[0]!.split('::', 2);
  const start = head === '' ? [] : head.split(':');
  const end = tail === undefined || tail === '' ? [] : tail.split(':');
  const groups = [...start, ...Array<string>(Math.max(0, 8 - start.length - end.length)).fill('0'), ...end];
  return `${groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`;
}
