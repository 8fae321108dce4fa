import { addressGuard, parseAddressRange, type AddressGuard } from './address-guard.ts';
import type { Config } from './load-config.ts';

export const sinkUrlCharactersMax = 2_000;

/** The URLs that sinks may have. */
export interface SinkPolicy {
  readonly allowsHttp: boolean;
  readonly allowsAddress: AddressGuard;
}

export const sinkPolicyOf = (config: Pick<Config, 'SINKS_ALLOW_HTTP' | 'SINKS_ALLOW_ADDRESSES'>): SinkPolicy => ({
  allowsHttp: config.SINKS_ALLOW_HTTP,
  allowsAddress: addressGuard((config.SINKS_ALLOW_ADDRESSES ?? []).map(parseAddressRange)),
});

/**
 * Returns the rule that the URL breaks, or null. The addresses of a host name are checked for each connection, because
 * they can change.
 */
export function sinkUrlFault(text: string, { allowsHttp, allowsAddress }: SinkPolicy): string | null {
  const url = text.length <= sinkUrlCharactersMax ? URL.parse(text) : null;
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:'))
    return `must be a URL of at most ${sinkUrlCharactersMax} characters that begins with https://`;
  if (url.protocol === 'http:' && !allowsHttp) return 'must begin with https://';
  if (url.username !== '' || url.password !== '') return 'must not contain a user name or password: use headers';
  const address = literalAddress(url.hostname);
  return address === null || allowsAddress(address) ? null : 'must not have a private or reserved address';
}

/**
 * Returns the IP address that a host of a parsed URL is, without brackets, or null for a name. The parser has converted
 * decimal, octal and hexadecimal forms.
 */
export function literalAddress(host: string): string | null {
  if (host.startsWith('[')) return host.slice(1, -1);
  return host.includes(':') || /^\d+(\.\d+){3}$/.test(host) ? host : null;
}
