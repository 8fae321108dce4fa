import { beforeAll, describe, expect, test } from '@jest/globals';
import { Client, createTopic } from '../support/stack.ts';
import { useStack } from '../support/use-stack.ts';

const stack = useStack();
let name: string;

beforeAll(async () => {
  ({ name } = await createTopic(await stack.person()));
});

/** Header values are bytes on the wire; `fetch` accepts UTF-8 in this form. */
const raw = (text: string) => Buffer.from(text, 'utf8').toString('latin1');

const publish = (headers: Record<string, string>, query = '', text = 'x') =>
  new Client().call('POST', `/${name}${query}`, { text, headers });

describe('a title', () => {
  test.each(['X-Title', 'Title', 't'])('is read from the header %s', async (header) => {
    expect(await publish({ [header]: 'Backup' })).toMatchObject({ status: 200, body: { title: 'Backup' } });
  });

  test.each(['x-title', 'title', 't'])('is read from the query parameter %s', async (parameter) => {
    expect(await publish({}, `?${parameter}=Back%20up%2B%C3%BC`)).toMatchObject({
      status: 200,
      body: { title: 'Back up+ü' },
    });
  });

  test('in X-Title takes precedence over its aliases, and headers over the query', async () => {
    expect((await publish({ 'X-Title': 'a', Title: 'b', t: 'c' }, '?title=d')).body.title).toBe('a');
    expect((await publish({ t: 'c' }, '?x-title=d')).body.title).toBe('c');
  });

  test.each([
    ['raw UTF-8', raw('Grüße 👋')],
    ['an encoded word in base64', '=?UTF-8?B?R3LDvMOfZSDwn5GL?='],
    ['an encoded word in Q', '=?utf-8?q?Gr=C3=BC=C3=9Fe_=F0=9F=91=8B?='],
    [
      'two encoded words, whose separating white space is ignored',
      '=?utf-8?q?Gr=C3=BC=C3=9Fe_?=  =?utf-8?b?8J+Riw==?=',
    ],
    ['an encoded word in another charset, and plain text', '=?iso-8859-1?q?Gr=FC=DFe?= =?utf-8?q?_=F0=9F=91=8B?='],
  ])('may be %s', async (_form, value) => {
    expect(await publish({ 'X-Title': value })).toMatchObject({ status: 200, body: { title: 'Grüße 👋' } });
  });

  test('that only resembles an encoded word stays unchanged', async () => {
    expect((await publish({ 'X-Title': '=?nonsense?b?AAAA?= =?utf-8?b?/w==?= a=?b' })).body.title).toBe(
      '=?nonsense?b?AAAA?= =?utf-8?b?/w==?= a=?b',
    );
  });

  test('that is blank is null', async () => {
    expect((await publish({ 'X-Title': '   ' })).body.title).toBeNull();
    expect((await publish({}, '?title=%20')).body.title).toBeNull();
  });

  test('has at most 250 code points', async () => {
    expect((await publish({ 'X-Title': raw('ü'.repeat(250)) })).status).toBe(200);
    expect(await publish({ 'X-Title': raw('😀'.repeat(251)) })).toMatchObject({
      status: 422,
      body: { detail: 'title: must be at most 250 characters' },
    });
  });
});

describe('a priority', () => {
  test.each([
    ['X-Priority', '1', 1],
    ['Priority', '5', 5],
    ['prio', '2', 2],
    ['p', '4', 4],
    ['X-Priority', 'min', 1],
    ['X-Priority', 'LOW', 2],
    ['X-Priority', 'default', 3],
    ['X-Priority', 'high', 4],
    ['X-Priority', 'max', 5],
    ['X-Priority', 'urgent', 5],
  ])('%s: %s is %d', async (header, value, priority) => {
    expect(await publish({ [header]: value })).toMatchObject({ status: 200, body: { priority } });
    expect(await publish({}, `?${header.toLowerCase()}=${value}`)).toMatchObject({ status: 200, body: { priority } });
  });

  test.each(['0', '6', '-1', '3.5', '1e0', 'loud', 'constructor', '__proto__', 'toString', 'hasOwnProperty'])(
    '%s is a 422',
    async (value) => {
      const refused = {
        status: 422,
        body: { detail: 'priority: must be 1 to 5, or min, low, default, high, max or urgent' },
      };
      expect(await publish({ 'X-Priority': value })).toMatchObject(refused);
      expect(await publish({}, `?priority=${value}`)).toMatchObject(refused);
      expect(
        await new Client().call('POST', '/', { json: { topic: name, message: 'x', priority: value } }),
      ).toMatchObject(refused);
    },
  );

  test.each(['u=3, i', 'u=1', 'i', 'u=5,i=?0', 'U=2'])('%s of the transport is ignored', async (value) => {
    expect(await publish({ Priority: value })).toMatchObject({ status: 200, body: { priority: 3 } });
    expect(await publish({ Priority: value, p: '5' })).toMatchObject({ status: 200, body: { priority: 5 } });
  });

  test('of the transport is not accepted in X-Priority', async () => {
    expect((await publish({ 'X-Priority': 'u=3, i' })).status).toBe(422);
  });
});

describe('tags', () => {
  test.each(['X-Tags', 'Tags', 'Tag', 'ta'])(
    'are read from the header %s, trimmed, without empty and repeated ones',
    async (header) => {
      expect(await publish({ [header]: ' b, a,,b ,c d' })).toMatchObject({
        status: 200,
        body: { tags: ['b', 'a', 'c d'] },
      });
    },
  );

  test('are read from the query, repeated or separated by commas', async () => {
    expect((await publish({}, '?tags=a,b&tags=c')).body.tags).toEqual(['a', 'b', 'c']);
    expect((await publish({ 'X-Tags': raw('ü,=?utf-8?q?=C3=A4?=') })).body.tags).toEqual(['ü', 'ä']);
  });

  test('are at most 20, each of at most 64 characters', async () => {
    const twenty = Array.from({ length: 20 }, (_, index) => `t${index}`);
    expect((await publish({ 'X-Tags': twenty.join(',') })).body.tags).toEqual(twenty);
    expect(await publish({ 'X-Tags': [...twenty, 'more'].join(',') })).toMatchObject({
      status: 422,
      body: { detail: 'tags: must be at most 20' },
    });
    expect((await publish({ 'X-Tags': raw('😀'.repeat(64)) })).status).toBe(200);
    expect(await publish({ 'X-Tags': 'x'.repeat(65) })).toMatchObject({
      status: 422,
      body: { detail: 'tags: each must be at most 64 characters' },
    });
  });
});

describe('a text', () => {
  test.each(['X-Message', 'Message', 'm'])('comes by the header %s when the body is empty', async (header) => {
    expect(await publish({ [header]: raw('Tür\\noffen') }, '', '')).toMatchObject({
      status: 200,
      body: { message: 'Tür\noffen' },
    });
    expect(await publish({ [header]: 'unused' }, '', 'body')).toMatchObject({ status: 200, body: { message: 'body' } });
  });

  test('is read from the query if nothing else has it', async () => {
    expect(await publish({}, '?message=T%C3%BCr', '')).toMatchObject({ status: 200, body: { message: 'Tür' } });
    expect(await publish({}, '?message=x'.padEnd(4_020, 'x'), '')).toMatchObject({
      status: 422,
      body: { detail: 'message: must be at most 4000 characters' },
    });
  });
});

test.each([
  ['title', 'x'],
  ['priority', 'x'],
  ['markdown', 'x'],
  ['message', ''],
])('returns 422 for %s given twice in the query', async (parameter, text) => {
  expect(await publish({}, `?${parameter}=1&${parameter}=1`, text)).toMatchObject({
    status: 422,
    body: { detail: `${parameter}: must be given once` },
  });
});

test('returns 422 for query bytes that are not UTF-8, and keeps a replacement character', async () => {
  expect(await publish({}, '?title=a%FFb')).toMatchObject({
    status: 422,
    body: { detail: 'title: must be valid UTF-8' },
  });
  expect(await publish({}, '?tags=%C3')).toMatchObject({ status: 422, body: { detail: 'tags: must be valid UTF-8' } });
  expect((await publish({}, '?title=a%EF%BF%BDb')).body.title).toBe('a\uFFFDb');
  expect((await publish({}, '?title=100%')).body.title).toBe('100%');
});

test("ignores headers of ntfy's clients that Tocsin does not support", async () => {
  const headers = {
    'X-Attach': 'https://a/c',
    'X-Delay': '30m',
    At: '9am',
    'X-Cache': 'no',
    'X-Firebase': 'no',
    'X-Email': 'a@b.c',
    'X-Call': 'yes',
    'X-Filename': 'f',
    'X-UnifiedPush': '1',
  };
  expect((await publish(headers, '?delay=1h&attach=a&attach=b')).status).toBe(200);
});

test('reports all invalid fields of a message in one response', async () => {
  const wrong = { 'X-Title': 'x'.repeat(251), 'X-Priority': '9', 'X-Tags': 'x'.repeat(65) };
  const faults =
    'title: must be at most 250 characters; priority: must be 1 to 5, or min, low, default, high, max or urgent; tags: each must be at most 64 characters';
  expect(await publish(wrong, '', 'x'.repeat(4001))).toMatchObject({
    status: 422,
    body: { detail: `message: must be at most 4000 characters; ${faults}` },
  });
  const json = { topic: name, title: wrong['X-Title'], priority: 9, tags: wrong['X-Tags'] };
  expect(await new Client().call('POST', '/', { json })).toMatchObject({
    status: 422,
    body: { detail: `message: is required: send it as the body; ${faults}` },
  });
});

describe('X-Ignored', () => {
  const ignored = async (answer: ReturnType<typeof publish>) => {
    const { status, headers } = await answer;
    return [status, headers.get('x-ignored')];
  };
  const names: Readonly<Record<string, readonly string[]>> = {
    attach: ['X-Attach', 'Attach', 'a'],
    filename: ['X-Filename', 'Filename', 'File', 'f'],
    email: ['X-Email', 'X-E-Mail', 'Email', 'E-Mail', 'mail', 'e'],
    call: ['X-Call', 'Call'],
    cache: ['X-Cache', 'Cache'],
    firebase: ['X-Firebase', 'Firebase'],
  };
  const json = (fields: object) => new Client().call('POST', '/', { json: { topic: name, message: 'x', ...fields } });

  test.each(Object.keys(names))('names the field %s in headers, query and JSON', async (field) => {
    for (const alias of names[field]!) {
      expect([alias, await ignored(publish({ [alias]: 'no' }))]).toEqual([alias, [200, field]]);
      expect([alias, await ignored(publish({}, `?${alias}=no`))]).toEqual([alias, [200, field]]);
    }
    expect(await ignored(json({ [field]: 'no' }))).toEqual([200, field]);
    expect(await ignored(json({ [field]: null }))).toEqual([200, null]);
  });

  test('names each field once, in a fixed order, also for a repeated publish', async () => {
    const headers = { Firebase: 'no', Cache: 'no', Email: 'a@example.org', Attach: 'https://example.org/a' };
    const all = [200, 'attach,email,cache,firebase'];
    const idempotent = { ...headers, 'Idempotency-Key': name };
    for (let count = 0; count < 2; count += 1) expect(await ignored(publish(idempotent, '?attach=x&e=y'))).toEqual(all);
    expect(await ignored(json({ firebase: 'no', filename: 'a', call: true }))).toEqual([200, 'filename,call,firebase']);
  });

  test('is absent without such fields', async () => {
    expect(await ignored(publish({ Title: 't', Attach: ' ' }, '?email='))).toEqual([200, null]);
  });
});
