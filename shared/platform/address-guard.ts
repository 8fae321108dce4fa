import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** Whether a connection to the IP address is allowed. False for a text that is not an address. */
export type AddressGuard = (address: string) => boolean;

/** https://www.rfc-editor.org/rfc/rfc4291#section-2.4: all global unicast addresses are in this range so far. */
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * Allows the addresses of the public internet, and the exceptions. An IPv4 address within an IPv6 address (mapped, or
 * translated by NAT64) is checked itself.
 */
export function addressGuard(exceptions: readonly AddressRange[]): AddressGuard {
  return (text) => {
    if (!ipaddr.isValid(text)) return false;
    const address = innerAddress(ipaddr.parse(text));
    return isPublic(address) || exceptions.some(([range, bits]) => isWithin(address, range, bits));
  };
}

export type AddressRange = readonly [Address, number];

/** Parses an address or a CIDR. Throws Error for an invalid one. */
export function parseAddressRange(text: string): AddressRange {
  const trimmed = text.trim();
  if (trimmed.includes('/')) return ipaddr.parseCIDR(trimmed);
  const address = ipaddr.parse(trimmed);
  return [address, address.kind() === 'ipv4' ? 32 : 128];
}

function innerAddress(address: Address): Address {
  if (!(address instanceof ipaddr.IPv6)) return address;
  if (address.isIPv4MappedAddress()) return address.toIPv4Address();
  // https://www.rfc-editor.org/rfc/rfc6052#section-2.1: 64:ff9b::/96
  return address.range() === 'rfc6052' ? new ipaddr.IPv4(address.toByteArray().slice(-4)) : address;
}

const isPublic = (address: Address): boolean =>
  address.range() === 'unicast' && (address instanceof ipaddr.IPv4 || address.match(globalUnicast));

const isWithin = (address: Address, range: Address, bits: number): boolean =>
  address.kind() === range.kind() && address.match(range, bits);
