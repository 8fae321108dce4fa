import { connect } from 'node:net';
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createTopic, testStack, type CallOptions } from '../support/stack.ts';
import { useStack, type Person } from '../support/use-stack.ts';

const stack = useStack();
let owner: Person;
let topic: { id: string; name: string };

beforeAll(async () => {
  owner = await stack.person({ tier: 'TEAM' });
  topic = await createTopic(owner);
  await owner.publish(topic.name, 'the only one');
});

/** The state that an accepted publish would change. */
async function standing() {
  const read = await owner.get(`/api/topics/${topic.name}/log`);
  return { records: read.body.records, remaining: Number(read.headers.get('x-ratelimit-remaining')) };
}
let before: Awaited<ReturnType<typeof standing>>;
beforeEach(async () => {
  before = await standing();
});
/** The rate limit may have been reset in between. */
const expectNothingChanged = async () => {
  const { records, remaining } = await standing();
  expect(records).toEqual(before.records);
  expect(remaining).toBeGreaterThanOrEqual(before.remaining);
};

const at = (query = '') => `/${topic.name}${query}`;
const operators = [{ $ne: null }, { $gt: '' }, { $where: 'sleep(1000)' }];
const numbers = [0, 6, -1, 2.5, 2 ** 53, 2 ** 63, 2 ** 64, 1e308];

test('returns 422 naming the field for a JSON field of the wrong type, out of range or injected', async () => {
  const bad: [string, unknown][] = [
    ...[undefined, null, 7, true, [], ...operators].map((value): [string, unknown] => ['topic', value]),
    ...[7, true, [], {}, '', '\ud800', 'x'.repeat(4_001), ...operators].map((value): [string, unknown] => [
      'message',
      value,
    ]),
    ...[7, true, [], {}, '\udc00', 'x'.repeat(251), ...operators].map((value): [string, unknown] => ['title', value]),
    ...[...numbers, true, [], '9', '.*', '__proto__', 'constructor', '5\u0000', ...operators].map(
      (value): [string, unknown] => ['priority', value],
    ),
    ...[
      7,
      true,
      [7],
      [null],
      [['a']],
      [{ $ne: null }],
      ['\ud800'],
      ['x'.repeat(65)],
      Array.from({ length: 21 }, (_, index) => `${index}`),
      ...operators,
    ].map((value): [string, unknown] => ['tags', value]),
    ...[[], {}, ...operators].map((value): [string, unknown] => ['markdown', value]),
  ];
  for (const [field, value] of bad) {
    const { status, body } = await owner.post('/', { topic: topic.name, message: 'x', [field]: value });
    expect({ field, value, status, detail: body.detail }).toEqual({
      field,
      value,
      status: 422,
      detail: expect.stringMatching(new RegExp(`^${field}: `)),
    });
  }
  await expectNothingChanged();
});

test('returns 404 for topic names in the JSON that cannot exist', async () => {
  for (const name of [
    '.*',
    '__proto__',
    'constructor',
    'a\r\nb',
    'a\u0000b',
    '',
    ' ',
    `${topic.name} `,
    '../api',
    '$ne',
    'x'.repeat(60_000),
  ]) {
    expect(await owner.post('/', { topic: name, message: 'x' })).toMatchObject({
      status: 404,
      body: { detail: 'Topic not found' },
    });
  }
  await expectNothingChanged();
});

const long = 'x'.repeat(251);
test.each<[string, string, Record<string, string>, string]>([
  ['a priority out of range', '', { 'X-Priority': '9' }, 'priority'],
  ['a priority of 64 bits', '', { 'X-Priority': '18446744073709551617' }, 'priority'],
  ['a priority in a query', '?priority=1%20OR%201=1', {}, 'priority'],
  ['a priority with a NUL', '?p=3%00', {}, 'priority'],
  ['a title that is too long', '', { Title: long }, 'title'],
  ['a title in a query that is not UTF-8', '?title=%C3%28', {}, 'title'],
  ['tags that are too many', `?tags=${Array.from({ length: 21 }, (_, index) => index).join(',')}`, {}, 'tags'],
  ['a tag that is too long', '', { 'X-Tags': long }, 'tags'],
  ['a title given twice', '?title=a&title=a', {}, 'title'],
  ['a title given twice in different case', '?title=a&Title=a', {}, 'title'],
  ['a title given twice alongside a header that takes precedence', '?title=a&title=b', { 'X-Title': 'c' }, 'title'],
  ['an alias given twice', '?p=1&p=1', {}, 'p'],
  ['a message given twice', '?message=a&message=b', {}, 'message'],
  ['an unknown template', '?template=__proto__', {}, 'template'],
  ['a template with an injected name', '', { 'X-Template': '{"$ne":null}' }, 'template'],
  ['a key that is too long', '', { 'Idempotency-Key': 'k'.repeat(129) }, 'Idempotency-Key'],
])('returns 422 for %s', async (_what, query, headers, field) => {
  // JSON publishes do not support templates.
  const paths: [string, CallOptions][] = [
    [at(query), { text: 'x' }],
    ...(field === 'template'
      ? []
      : [[`/${query}`, { json: { topic: topic.name, message: 'x' } }] as [string, CallOptions]]),
  ];
  for (const [path, options] of paths) {
    const { status, body } = await owner.client.call('POST', path, { ...options, headers });
    expect({ path, status, detail: body.detail }).toEqual({
      path,
      status: 422,
      detail: expect.stringMatching(new RegExp(`^${field}: `)),
    });
  }
  await expectNothingChanged();
});

test('returns 422 for a credential given twice in a query', async () => {
  const { key } = (await owner.post('/api/keys', { name: 'k' })).body;
  const nobody = stack.caller();
  for (const path of [at(`?api_key=${key}&api_key=${key}`), `/?api_key=${key}&api_key=${key}`]) {
    expect(await nobody.post(path, { topic: topic.name, message: 'x' })).toMatchObject({
      status: 422,
      body: { detail: 'api_key: must be given once' },
    });
  }
  await expectNothingChanged();
});

test.each([
  ['a continuation byte alone', [0x80]],
  ['an overlong slash', [0xc0, 0xaf]],
  ['a surrogate', [0xed, 0xa0, 0x80]],
  ['beyond Unicode', [0xf4, 0x90, 0x80, 0x80]],
  ['a character cut off', [0x61, 0xe2, 0x82]],
])('returns 422 for a text with %s', async (_what, bytes) => {
  expect(await owner.client.call('POST', at(), { text: new Uint8Array(bytes) })).toMatchObject({
    status: 422,
    body: { detail: 'message: must be valid UTF-8' },
  });
  await expectNothingChanged();
});

describe('line breaks and NULs', () => {
  /** Sends raw bytes and resolves with everything received until the connection ends. */
  function raw(text: string): Promise<string> {
    const { hostname, port } = new URL(testStack().urls[0]!);
    return new Promise((resolve, reject) => {
      const socket = connect(Number(port), hostname, () => socket.write(text, 'latin1'));
      let answer = '';
      socket.on('data', (chunk: Buffer) => (answer += chunk.toString('latin1')));
      socket.on('close', () => resolve(answer));
      socket.on('error', reject);
    });
  }
  const head = (header: string) =>
    `POST ${at()} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${owner.client.token}\r\nConnection: close\r\n${header}\r\nContent-Length: 1\r\n\r\nx`;

  test.each([
    ['a NUL', 'X-Title: a\u0000b'],
    ['a bare line break', 'X-Title: a\rb'],
    ['a name with a blank', 'X Title: a'],
    ['two lengths', 'Content-Length: 2'],
  ])('returns 400 for %s in a header', async (_what, header) => {
    const answer = await raw(head(header));
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toContain('{"detail":"The request is not valid HTTP"}');
    await expectNothingChanged();
  });

  test('in an encoded title do not reach the response headers', async () => {
    const answer = await raw(head('X-Title: =?utf-8?q?a=0D=0ASet-Cookie:_b=00?='));
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    expect(answer).not.toMatch(/^set-cookie/im);
    expect(answer).toContain('"title":"a\\r\\nSet-Cookie: b\\u0000"');
  });
});

test.each(['', '?wait=60&since=all'])(
  'GET /{topic}/json%s returns 422 for malformed parameters and prevents injection',
  async (valid) => {
    const glue = valid === '' ? '?' : '&';
    for (const [name, values] of Object.entries({
      since: ['.*', '__proto__', '{"$gt":""}', '1 OR 1=1', '%00', '18446744073709551617', '-5', '1e9', '10y'],
      limit: ['0', '101', '1.5', '-1', '9223372036854775808', '[]', '%24ne'],
      poll: ['2', 'yes', '{}'],
      wait: ['-1', '61', '18446744073709551617', 'x'],
    })) {
      for (const value of values) {
        if (valid.includes(`${name}=`)) continue;
        const { status, body } = await owner.get(
          `/${topic.name}/json${valid}${glue}${name}=${value.startsWith('%') ? value : encodeURIComponent(value)}`,
        );
        expect({ name, value, status, detail: body.detail }).toEqual({
          name,
          value,
          status: 422,
          detail: expect.stringMatching(new RegExp(`^${name}: `)),
        });
      }
    }
  },
);
