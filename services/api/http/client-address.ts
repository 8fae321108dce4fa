import type { IncomingMessage } from 'node:http';
import { isIPv6 } from 'node:net';
import proxyaddr from 'proxy-addr';

/** Finds the address that a request comes from, as budgets are counted: IPv4 whole, IPv6 by /64. */
export type ClientAddress = (request: IncomingMessage) => string;

/**
 * `trustProxy` is TRUST_PROXY: empty (the peer's address), a number of hops, or a list of addresses and CIDRs whose
 * `X-Forwarded-For` is believed. Throws a TypeError for a list that is none.
 */
export function clientAddress(trustProxy: string): ClientAddress {
  const trust = trustFunction(trustProxy.trim());
  if (trust === null) return (request) => budgetAddress(request.socket.remoteAddress ?? '');
  return (request) => budgetAddress(proxyaddr(request, trust));
}

/** Null trusts nobody. */
function trustFunction(text: string): ((address: string, hop: number) => boolean) | null {
  if (text === '' || text === 'off') return null;
  if (/^\d+$/.test(text)) return (_address, hop) => hop < Number(text);
  return proxyaddr.compile(text.split(',').map((part) => part.trim()));
}

function budgetAddress(address: string): string {
  if (!address.includes(':')) return address;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address);
  if (mapped !== null) return mapped[1]!;
  if (!isIPv6(address)) return address;
  const [head = '', tail] = address.split('%')[0]!.split('::', 2);
  const start = head === '' ? [] : head.split(':');
  const end = tail === undefined || tail === '' ? [] : tail.split(':');
  const groups = [...start, ...Array<string>(Math.max(0, 8 - start.length - end.length)).fill('0'), ...end];
  return `${groups.slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`;
}
