import { expect, test } from '@jest/globals';
import { addressGuard, parseAddressRange } from './address-guard.ts';

const guard = addressGuard([]);

test.each([
  '127.0.0.1',
  '127.255.255.254',
  '0.0.0.0',
  '10.1.2.3',
  '172.16.0.1',
  '192.168.1.1',
  '169.254.169.254',
  '100.64.0.1',
  '192.0.0.1',
  '192.0.2.1',
  '198.18.0.1',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::ffff:127.0.0.1',
  '::ffff:a9fe:a9fe',
  '::7f00:1',
  '64:ff9b::7f00:1',
  '64:ff9b::10.0.0.1',
  '64:ff9b:1::1',
  'fe80::1',
  'fe80::1%eth0',
  'fd00:ec2::254',
  'ff02::1',
  'fec0::1',
  '2001:db8::1',
  '2002:7f00:1::',
  'localhost',
  '',
])('refuses %s', (address) => {
  expect(guard(address)).toBe(false);
});

test.each(['8.8.8.8', '::ffff:8.8.8.8', '64:ff9b::808:808', '2606:4700:4700::1111'])('allows %s', (address) => {
  expect(guard(address)).toBe(true);
});

test('exceptions allow their addresses only, also as IPv4 within IPv6', () => {
  const some = addressGuard(['127.0.0.1', '10.0.0.0/8', 'fd00::/8'].map(parseAddressRange));
  const verdicts = ['127.0.0.1', '::ffff:127.0.0.1', '127.0.0.2', '10.9.9.9', 'fd12::1', '::1'].map(some);
  expect(verdicts).toEqual([true, true, false, true, true, false]);
});

test.each(['10.0.0.0/33', 'x', '', '1.2.3.4/'])('%s is not a range', (text) => {
  expect(() => parseAddressRange(text)).toThrow();
});
