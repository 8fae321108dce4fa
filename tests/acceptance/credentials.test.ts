import { beforeAll, describe, expect, test } from '@jest/globals';
import { createTopic } from '../support/stack.ts';
import { useStack, type Person } from '../support/use-stack.ts';

const stack = useStack();
const bad = { status: 401, body: { detail: 'Could not validate credentials' } };
const base64url = (text: string): string => Buffer.from(text).toString('base64url');

let owner: Person;
/** A private topic of the owner, which only the credential in use can open. */
let topic: { name: string };
let key: string;
let token: string;
beforeAll(async () => {
  owner = await stack.person();
  topic = await createTopic(owner, { access_level: 'private' });
  key = (await owner.post('/api/keys', { name: 'k' })).body.key as string;
  token = (await owner.post(`/api/topics/${topic.name}/access-tokens`, { name: 't', permissions: ['read', 'write'] }))
    .body.token as string;
});

interface Sent {
  readonly headers: Record<string, string>;
  readonly query: Record<string, string>;
}
/** Every place for a credential, with a valid or an invalid one. */
const places: Readonly<Record<string, (isGood: boolean) => Partial<Sent>>> = {
  'X-Topic-Token': (isGood) => ({ headers: { 'X-Topic-Token': isGood ? token : 'tk_wrong' } }),
  Authorization: (isGood) => ({ headers: { Authorization: `Bearer ${isGood ? owner.client.token : 'wrong'}` } }),
  'X-API-Key': (isGood) => ({ headers: { 'X-API-Key': isGood ? key : 'toc_wrong' } }),
  token: (isGood) => ({ query: { token: isGood ? owner.client.token! : 'wrong' } }),
  api_key: (isGood) => ({ query: { api_key: isGood ? key : 'toc_wrong' } }),
  auth: (isGood) => ({ query: { auth: base64url(`Bearer ${isGood ? key : 'toc_wrong'}`) } }),
};

async function statusOf(method: 'get' | 'head', path: string, sent: readonly Partial<Sent>[]): Promise<number> {
  const query = new URLSearchParams(
    Object.assign({}, ...sent.map((one) => one.query ?? {})) as Record<string, string>,
  ).toString();
  const headers = Object.assign({}, ...sent.map((one) => one.headers ?? {})) as Record<string, string>;
  return (await stack.caller(headers)[method](query === '' ? path : `${path}?${query}`)).status;
}

/** Each place with all places of lower precedence, which must be ignored. */
function inOrder(order: readonly string[]): [string, string, string[]][] {
  return order.map((first, at) => [first, order.slice(at + 1).join(', ') || 'nothing', order.slice(at + 1)]);
}

const onTopics = ['X-Topic-Token', 'Authorization', 'X-API-Key', 'api_key', 'auth'];
const onStreams = ['X-Topic-Token', 'Authorization', 'X-API-Key', 'token', 'api_key', 'auth'];
const elsewhere = ['Authorization', 'X-API-Key', 'api_key', 'auth', 'X-Topic-Token'];

describe('only the credential with the highest precedence counts', () => {
  test.each(inOrder(onTopics))("on a topic's routes, %s takes precedence over %s", async (first, _text, rest) => {
    const path = `/${topic.name}/json`;
    expect(await statusOf('get', path, [places[first]!(true), ...rest.map((place) => places[place]!(false))])).toBe(
      200,
    );
    expect(await statusOf('get', path, [places[first]!(false), ...rest.map((place) => places[place]!(true))])).toBe(
      401,
    );
  });

  test.each(inOrder(onStreams))('on streams, %s takes precedence over %s', async (first, _text, rest) => {
    const path = `/${topic.name}/sse`;
    expect(await statusOf('head', path, [places[first]!(true), ...rest.map((place) => places[place]!(false))])).toBe(
      200,
    );
    expect(await statusOf('head', path, [places[first]!(false), ...rest.map((place) => places[place]!(true))])).toBe(
      401,
    );
  });

  test.each(inOrder(elsewhere))('elsewhere, %s takes precedence over %s', async (first, _text, rest) => {
    const right = first === 'X-Topic-Token' ? 403 : 200; // it opens only its topic
    expect(
      await statusOf('get', '/api/topics/my', [places[first]!(true), ...rest.map((place) => places[place]!(false))]),
    ).toBe(right);
    expect(
      await statusOf('get', '/api/topics/my', [places[first]!(false), ...rest.map((place) => places[place]!(true))]),
    ).toBe(401);
  });
});

test('the query parameter token is only read on streams', async () => {
  expect(await statusOf('get', `/${topic.name}/json`, [places['token']!(true)])).toBe(401);
  expect(await statusOf('get', '/api/topics/public', [places['token']!(false)])).toBe(200);
});

test('an empty header or parameter is not a credential', async () => {
  const empty = { 'X-Topic-Token': '', Authorization: '', 'X-API-Key': ' ' };
  const query = `api_key=&auth=&token=`;
  expect((await stack.caller(empty).get(`/api/topics/public?${query}`)).status).toBe(200);
  expect(await stack.caller(empty).get(`/${topic.name}/json?${query}`)).toMatchObject({
    status: 401,
    body: { detail: 'Not authenticated' },
  });
  expect((await stack.caller({ ...empty, 'X-API-Key': key }).get(`/${topic.name}/json`)).status).toBe(200);
  expect((await stack.caller(empty).get(`/${topic.name}/json?auth=${base64url(`Bearer ${key}`)}`)).status).toBe(200);
});

test.each([
  'Digest username="x"',
  'Token abc',
  'abc',
  'Bearer',
  'Basic',
  'Basic !',
  `Basic ${btoa('no colon')}`,
  `Basic ${btoa('user:')}`,
  `Negotiate ${btoa('x:y')}`,
])('Authorization: %s is not a credential', async (value) => {
  for (const path of [`/${topic.name}/json`, '/api/topics/public', '/api/keys'])
    expect(await stack.caller({ Authorization: value }).get(path)).toMatchObject(bad);
});

test('recognizes the kind of a bearer by its prefix, and accepts any kind as Basic password and in auth', async () => {
  for (const secret of [owner.client.token!, key, token]) {
    const basic = `Basic ${btoa(`anyone:${secret}`)}`;
    for (const value of [`Bearer ${secret}`, `bearer   ${secret}`, basic, `Basic ${btoa(`:${secret}`)}`]) {
      expect((await stack.caller({ Authorization: value }).get(`/${topic.name}/json`)).status).toBe(200);
      expect((await stack.caller().get(`/${topic.name}/json?auth=${base64url(value)}`)).status).toBe(200);
    }
  }
});

test('refuses a credential of the wrong kind for its header', async () => {
  const jwt = owner.client.token!;
  for (const [header, secret] of [
    ['X-API-Key', jwt],
    ['X-API-Key', token],
    ['X-Topic-Token', jwt],
    ['X-Topic-Token', key],
  ] as const) {
    expect(await stack.caller({ [header]: secret }).get(`/${topic.name}/json`)).toMatchObject(bad);
  }
  for (const secret of [jwt, token])
    expect(await stack.caller().get(`/${topic.name}/json?api_key=${secret}`)).toMatchObject(bad);
});

test('checks a credential even if none is required', async () => {
  const open = await createTopic(await stack.person());
  expect(await stack.caller({ 'X-API-Key': 'toc_wrong' }).get(`/${open.name}/json`)).toMatchObject(bad);
  const lacking = (await owner.post('/api/keys', { name: 'k', scopes: ['publish'] })).body.key as string;
  expect(await stack.caller({ 'X-API-Key': lacking }).get(`/${open.name}/json`)).toMatchObject({
    status: 403,
    body: { detail: 'Missing scope: subscribe' },
  });
  expect(await stack.caller({ 'X-Topic-Token': token }).get(`/${open.name}/json`)).toMatchObject({
    status: 403,
    body: { detail: 'Insufficient permissions to access this topic' },
  });
  const { headers } = await stack.caller({ Authorization: 'Bearer wrong' }).get('/api/topics/public');
  expect(headers.get('www-authenticate')).toBe('Bearer');
});
