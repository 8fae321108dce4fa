import proxyaddr from 'proxy-addr';

/** Whether to trust the `X-Forwarded-For` of the address at this hop. */
export type Trust = (address: string, hop: number) => boolean;

/**
 * Parses TRUST_PROXY: a number of hops, or trusted addresses and CIDRs. Returns null (no trusted proxy) for an empty
 * value or `off`. Throws TypeError for an invalid list.
 */
export function trustedProxies(trustProxy: string): Trust | null {
  const text = trustProxy.trim();
  if (text === '' || text === 'off') return null;
  if (/^\d+$/.test(text)) return (_address, hop) => hop < Number(text);
  return proxyaddr.compile(text.split(',').map((part) => part.trim()));
}
