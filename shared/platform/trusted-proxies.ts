import proxyaddr from 'proxy-addr';

/** Whether the address, so many hops away from us, is believed about who was before it. */
export type Trust = (address: string, hop: number) => boolean;

/**
 * TRUST_PROXY: a number of hops, or addresses and CIDRs whose `X-Forwarded-For` is believed; null, for an empty one or `off`, trusts
 * nobody. Throws a TypeError for a list that is none.
 */
export function trustedProxies(trustProxy: string): Trust | null {
  const text = trustProxy.trim();
  if (text === '' || text === 'off') return null;
  if (/^\d+$/.test(text)) return (_address, hop) => hop < Number(text);
  return proxyaddr.compile(text.split(',').map((part) => part.trim()));
}
