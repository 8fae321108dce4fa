import type { IncomingMessage } from 'node:http';
import { expect, test } from '@jest/globals';
import { clientAddress } from './client-address.ts';

/** A request from the peer with its forwarding header. */
const request = (remoteAddress: string, forwardedFor?: string) =>
  ({
    socket: { remoteAddress },
    connection: { remoteAddress },
    headers: { ...(forwardedFor === undefined ? {} : { 'x-forwarded-for': forwardedFor }) },
  }) as unknown as IncomingMessage;

test.each(['', 'off'])('with TRUST_PROXY=%s ignores forwarding headers', (trust) => {
  expect(clientAddress(trust)(request('192.0.2.1', '198.51.100.7'))).toBe('192.0.2.1');
});

test("trusts as many hops of a chain as there are proxies, and not the client's part", () => {
  const chain = '1.1.1.1, 2.2.2.2, 198.51.100.7';
  expect(clientAddress('1')(request('10.0.0.1', chain))).toBe('198.51.100.7');
  expect(clientAddress('2')(request('10.0.0.1', chain))).toBe('2.2.2.2');
  expect(clientAddress('1')(request('192.0.2.1'))).toBe('192.0.2.1');
});

test('trusts only the listed proxies', () => {
  const address = clientAddress('10.0.0.0/8, 2001:db8::1');
  expect(address(request('10.1.2.3', '6.6.6.6, 198.51.100.7'))).toBe('198.51.100.7');
  expect(address(request('10.1.2.3', '6.6.6.6, 198.51.100.7, 10.9.9.9'))).toBe('198.51.100.7');
  expect(address(request('192.0.2.1', '198.51.100.7'))).toBe('192.0.2.1');
  expect(() => clientAddress('nonsense')).toThrow(TypeError);
});

test('uses the /64 of an IPv6 address, and the IPv4 address of an IPv4-mapped one', () => {
  const address = clientAddress('');
  const of64 = [
    '2001:db8:1:2::1',
    '2001:db8:1:2:ffff:ffff:ffff:ffff',
    '2001:0db8:0001:0002:0000:0000:0000:0007',
    '2001:DB8:1:2::9%eth0',
  ];
  expect(new Set(of64.map((one) => address(request(one))))).toEqual(new Set(['2001:db8:1:2::/64']));
  expect(address(request('2001:db8:1:3::1'))).toBe('2001:db8:1:3::/64');
  expect(address(request('::1'))).toBe('0:0:0:0::/64');
  expect(address(request('::ffff:192.0.2.1'))).toBe('192.0.2.1');
});

test.each([
  ['198.51.100.7:4711', '198.51.100.7'],
  ['::ffff:198.51.100.7', '198.51.100.7'],
  ['::FFFF:c633:6407', '198.51.100.7'],
  ['0:0:0:0:0:ffff:198.51.100.7', '198.51.100.7'],
  ['[::ffff:198.51.100.7]:4711', '198.51.100.7'],
  ['[2001:db8:1:2::7]:4711', '2001:db8:1:2::/64'],
  ['[2001:db8:1:2::7]', '2001:db8:1:2::/64'],
])('reads %s from a proxy as %s', (sent, expected) => {
  expect(clientAddress('1')(request('10.0.0.1', sent))).toBe(expected);
});
