import { expect, test } from '@jest/globals';
import { sinkPolicyOf, sinkUrlFault } from './sink-urls.ts';

const strict = sinkPolicyOf({ SINKS_ALLOW_HTTP: false, SINKS_ALLOW_ADDRESSES: undefined });
const local = sinkPolicyOf({ SINKS_ALLOW_HTTP: true, SINKS_ALLOW_ADDRESSES: ['127.0.0.1'] });
const reserved = 'must not have a private or reserved address';

test.each([
  'https://127.0.0.1/',
  'https://2130706433/',
  'https://0177.0.0.1/',
  'https://0x7f.1/',
  'https://127.1/',
  'https://[::1]/',
  'https://[::ffff:127.0.0.1]/',
  'https://[64:ff9b::169.254.169.254]/',
  'https://169.254.169.254/latest/meta-data',
  'https://0/',
  'https://１２７.0.0.1/',
])('refuses the address of %s', (url) => {
  expect(sinkUrlFault(url, strict)).toBe(reserved);
});

test.each([
  ['http://example.org/', 'must begin with https://'],
  ['ftp://example.org/', 'must be a URL of at most 2000 characters that begins with https://'],
  ['example.org', 'must be a URL of at most 2000 characters that begins with https://'],
  [`https://example.org/${'a'.repeat(2_000)}`, 'must be a URL of at most 2000 characters that begins with https://'],
  ['https://u:p@example.org/', 'must not contain a user name or password: use headers'],
  ['https://example.org/hook?x=1', null],
  ['https://8.8.8.8:8443/', null],
])('%s', (url, fault) => {
  expect(sinkUrlFault(url, strict)).toBe(fault);
});

test('exceptions allow http and an address', () => {
  const urls = ['http://127.0.0.1:9/', 'https://[::ffff:127.0.0.1]/', 'http://127.0.0.2/'];
  expect(urls.map((url) => sinkUrlFault(url, local))).toEqual([null, null, reserved]);
});
