import { expect, test } from '@jest/globals';
import { Client, newTopicName } from '../support/stack.ts';

const browserAccepts = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
const consolePaths = [
  '/',
  '/console',
  '/console/login',
  '/console/topics/backups',
  '/console/topics/backups/settings',
  '/admin',
  '/console/admin/retention',
  '/auth/verified',
  '/auth/callback',
  '/auth/reset-password',
  '/auth/accept-invite',
  '/auth/undo-email-change',
];

/** The script of the console, whose name contains a hash of its content. */
const scriptTag = /<script type="module"[^>]* src="(\/assets\/index-[\w-]{8}\.js)"><\/script>/;

async function scriptPath(): Promise<string> {
  const { body } = await new Client().call('GET', '/');
  return scriptTag.exec(body)![1]!;
}

test.each(consolePaths)(
  'GET %s returns the console, restricted to this server, without credentials or rate limit',
  async (path) => {
    const { status, headers, body } = await new Client('nonsense').call('GET', `${path}?api_key=nonsense`);
    expect([status, headers.get('content-type'), headers.get('x-ratelimit-limit')]).toEqual([
      200,
      'text/html; charset=utf-8',
      null,
    ]);
    expect(headers.get('content-security-policy')).toMatch(/^default-src 'self';.*frame-ancestors 'none'/);
    expect([
      headers.get('x-content-type-options'),
      headers.get('referrer-policy'),
      headers.get('cache-control'),
    ]).toEqual(['nosniff', 'no-referrer', 'no-cache']);
    expect(body).toMatch(scriptTag);
  },
);

test.each(['/', '/console', '/docs', '/assets/icon.svg', '/auth/verified'])(
  'HEAD %s responds like GET without a body',
  async (path) => {
    const [got, head] = [await new Client().call('GET', path), await new Client().call('HEAD', path)];
    expect([head.status, head.body]).toEqual([200, undefined]);
    for (const name of ['content-type', 'etag', 'cache-control'])
      expect(head.headers.get(name)).toBe(got.headers.get(name));
  },
);

test.each([
  ['DELETE', '/', 'GET, HEAD, POST, PUT'],
  ['POST', '/console', 'GET, HEAD'],
  ['POST', '/docs', 'GET, HEAD'],
  ['POST', '/admin', 'GET, HEAD'],
  ['DELETE', '/assets/icon.svg', 'GET, HEAD'],
  ['POST', '/auth/verified', 'GET, HEAD'],
])('%s %s returns 405 with Allow: %s', async (method, path, allow) => {
  const answer = await new Client().call(method, path);
  expect([answer.status, answer.headers.get('allow'), answer.headers.get('content-type')]).toEqual([
    405,
    allow,
    'application/json',
  ]);
});

test.each([
  '/assets/nothing.js',
  '/assets/..%2fmain.ts',
  '/assets/..%2f..%2fpackage.json',
  '/assets/%2e%2e%2fapp.ts',
  '/assets/a/b',
  '/assets/__proto__',
])('returns 404 as JSON for %s', async (path) => {
  const answer = await new Client('nonsense').call('GET', path);
  expect([answer.status, answer.body]).toEqual([404, { detail: 'Not found' }]);
});

test.each([
  ['/console/service-worker.js', 'text/javascript; charset=utf-8'],
  ['/assets/manifest.webmanifest', 'application/manifest+json'],
  ['/assets/icon-512.png', 'image/png'],
])('%s is revalidated before each use, so that browsers never keep an old one', async (path, type) => {
  const { status, headers } = await new Client('nonsense').call('GET', path);
  expect([status, headers.get('content-type'), headers.get('cache-control')]).toEqual([200, type, 'no-cache']);
});

test('a script has a hash in its name and is cached for a year', async () => {
  const { status, headers } = await new Client().call('GET', await scriptPath());
  expect([status, headers.get('content-type'), headers.get('cache-control')]).toEqual([
    200,
    'text/javascript; charset=utf-8',
    'public, max-age=31536000, immutable',
  ]);
});

test('a browser with the current version gets 304', async () => {
  const path = await scriptPath();
  const etag = (await new Client().call('GET', path)).headers.get('etag')!;
  const get = (known: string) => new Client().call('GET', path, { headers: { 'If-None-Match': known } });
  expect(await get(`"other", W/${etag}`)).toMatchObject({ status: 304, body: undefined });
  expect((await get('"other"')).status).toBe(200);
});

test.each([
  ['br, gzip', 'br'],
  ['gzip, br;q=0', 'gzip'],
  ['identity', null],
])('a script is sent to a client that accepts %s with the encoding %s', async (accepted, encoding) => {
  const path = await scriptPath();
  const plain = await new Client().call('GET', path, { headers: { 'Accept-Encoding': 'identity' } });
  const sent = await new Client().call('GET', path, { headers: { 'Accept-Encoding': accepted } });
  expect([sent.headers.get('content-encoding'), sent.headers.get('vary')]).toEqual([encoding, 'Accept-Encoding']);
  expect(sent.body).toBe(plain.body);
});

test("redirects a browser from a topic's URL to the topic's page", async () => {
  const name = newTopicName();
  for (const method of ['GET', 'HEAD']) {
    const answer = await new Client('nonsense').call(method, `/${name}`, { headers: { Accept: browserAccepts } });
    expect([answer.status, answer.headers.get('location'), answer.headers.get('vary')]).toEqual([
      303,
      `/console/topics/${name}`,
      'Accept',
    ]);
  }
});

test.each([undefined, '*/*', 'application/json', 'text/event-stream', 'application/json, text/html;q=0.5'])(
  'returns 405 to clients that accept %s',
  async (accept) => {
    const answer = await new Client().call(
      'GET',
      `/${newTopicName()}`,
      accept === undefined ? {} : { headers: { Accept: accept } },
    );
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST, PUT']);
  },
);

test('pages do not hide other paths of one segment', async () => {
  for (const path of ['/openapi.json', '/metrics', '/docs']) {
    expect((await new Client().call('GET', path, { headers: { Accept: browserAccepts } })).status).toBe(200);
  }
});
