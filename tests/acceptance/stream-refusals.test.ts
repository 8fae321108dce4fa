import { describe, expect, test } from '@jest/globals';
import { WebSocket } from 'ws';
import { createTopic, newAddress, newTopicName, testStack } from '../support/stack.ts';
import { useStack } from '../support/use-stack.ts';
import { transports, useStreams } from '../support/use-streams.ts';

const stack = useStack();
const streams = useStreams();

const notFound = { status: 404, body: { detail: 'Topic not found' } };
const nobody = { status: 401, body: { detail: 'Not authenticated' } };
const badCredential = { status: 401, body: { detail: 'Could not validate credentials' } };
const closed = { status: 403, body: { detail: 'Insufficient permissions to access this topic' } };

async function topics() {
  const owner = await stack.person();
  return {
    owner,
    open: await createTopic(owner),
    secret: await createTopic(owner, { access_level: 'private' }),
    stranger: await stack.person(),
  };
}

describe.each(transports)('over %s', (transport) => {
  test('refuses a stream of one topic with JSON before streaming starts', async () => {
    const { open, secret, stranger } = await topics();
    const refused = await streams.open(transport, { topic: newTopicName() });
    expect(refused).toMatchObject(notFound);
    expect(refused.headers).toMatchObject({
      'content-type': 'application/json',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'x-request-id': expect.any(String),
    });
    expect(await streams.open(transport, { topic: 'no%20name' })).toMatchObject(notFound);
    expect(await streams.open(transport, { topic: '%zz' })).toMatchObject({
      status: 400,
      body: { detail: expect.any(String) },
    });
    const anonymous = await streams.open(transport, { topic: secret.name });
    expect(anonymous).toMatchObject({ ...nobody, headers: { 'www-authenticate': 'Bearer' } });
    expect(await streams.open(transport, { topic: secret.name }, { token: stranger.client.token })).toMatchObject(
      closed,
    );
    expect(await streams.open(transport, { topic: open.name, query: '?token=tk_nonsense' })).toMatchObject(
      badCredential,
    );
    expect(
      await streams.open(transport, { topic: open.name }, { headers: { Authorization: 'Digest x' } }),
    ).toMatchObject(badCredential);
  });

  test('refuses the stream if one topic is unknown or inaccessible', async () => {
    const { owner, open, secret, stranger } = await topics();
    const of = (...names: string[]) => ({ query: `?topics=${names.join(',')}` });
    const unknown = newTopicName();
    expect(await streams.open(transport, of(open.name, unknown))).toMatchObject(notFound);
    expect(await streams.open(transport, of(open.name, 'no name'))).toMatchObject(notFound);
    expect(await streams.open(transport, of(open.name, secret.name))).toMatchObject({
      ...nobody,
      headers: { 'www-authenticate': 'Bearer' },
    });
    expect(await streams.open(transport, of(open.name, secret.name), { token: stranger.client.token })).toMatchObject(
      closed,
    );
    expect(await streams.open(transport, of(secret.name, unknown))).toMatchObject(notFound);
    expect(
      (await streams.open(transport, of(open.name, secret.name), { token: owner.client.token })).body,
    ).toBeUndefined();
  });

  test('a topic token opens streams only of its topic, in every place for the token', async () => {
    const { owner, open, secret } = await topics();
    const make = async (permissions: string[]) =>
      (await owner.post(`/api/topics/${secret.name}/access-tokens`, { name: 't', permissions })).body.token as string;
    const token = await make(['read']);
    const ways = [
      { query: `?token=${token}` },
      { query: `?auth=${Buffer.from(`Bearer ${token}`).toString('base64url')}` },
    ];
    for (const { query } of ways) {
      expect((await streams.open(transport, { topic: secret.name, query })).body).toBeUndefined();
      expect((await streams.open(transport, { query: `${query}&topics=${secret.name}` })).body).toBeUndefined();
      expect(await streams.open(transport, { query: `${query}&topics=${secret.name},${open.name}` })).toMatchObject(
        closed,
      );
    }
    const headers = { 'X-Topic-Token': token };
    expect((await streams.open(transport, { topic: secret.name }, { headers })).body).toBeUndefined();
    expect((await streams.open(transport, { query: `?topics=${secret.name}` }, { headers })).body).toBeUndefined();
    expect(
      await streams.open(transport, { topic: secret.name, query: `?token=${await make(['write'])}` }),
    ).toMatchObject(closed);
    expect(await streams.open(transport, { topic: open.name, query: `?token=${token}` })).toMatchObject(closed);
  });

  test("an API key needs the scope to open streams, and opens only its user's private topics", async () => {
    const { owner, open, secret } = await topics();
    const key = async (scopes: string[]) => (await owner.post('/api/keys', { name: 'k', scopes })).body.key as string;
    const [subscribe, publish] = [await key(['subscribe']), await key(['publish'])];
    expect(
      (await streams.open(transport, { query: `?topics=${open.name},${secret.name}&api_key=${subscribe}` })).body,
    ).toBeUndefined();
    expect((await streams.open(transport, { topic: secret.name, query: `?token=${subscribe}` })).body).toBeUndefined();
    const missing = { status: 403, body: { detail: 'Missing scope: subscribe' } };
    expect(await streams.open(transport, { topic: open.name, query: `?api_key=${publish}` })).toMatchObject(missing);
    expect(await streams.open(transport, { query: `?topics=${newTopicName()}&api_key=${publish}` })).toMatchObject(
      missing,
    );
  });

  test('accepts 1 to 100 topics, ignoring duplicates and case', async () => {
    const { open } = await topics();
    const names = Array.from({ length: 101 }, () => newTopicName());
    const tooMany = { status: 422, body: { detail: 'topics: must name 1 to 100 topics' } };
    expect(await streams.open(transport, { query: `?topics=${names.join(',')}` })).toMatchObject(tooMany);
    expect(await streams.open(transport, { query: `?topics=${names.slice(1).join(',')}` })).toMatchObject(notFound);
    const repeated = Array.from({ length: 150 }, (_, at) => (at % 2 === 0 ? open.name : open.name.toUpperCase())).join(
      ',',
    );
    const stream = await streams.open(transport, { query: `?topics=${repeated}` });
    expect((await stream.ready()).topics).toEqual([open.name]);
    for (const query of ['', '?topics=', '?topics=%20,,', '?session=', '?session=&topics=']) {
      expect(await streams.open(transport, { query })).toMatchObject({
        status: 422,
        body: { detail: 'topics: name 1 to 100 topics, or give a session' },
      });
    }
  });

  test('reports malformed parameters after the access check', async () => {
    const { secret } = await topics();
    expect(await streams.open(transport, { topic: newTopicName(), query: '?since_id=x' })).toMatchObject(notFound);
    expect(await streams.open(transport, { topic: secret.name, query: '?since_id=x' })).toMatchObject(nobody);
    expect(await streams.open(transport, { query: `?topics=${secret.name}&since_id=x` })).toMatchObject(nobody);
  });

  test('returns 422 for a credential given twice in the query', async () => {
    const { owner, open } = await topics();
    const { token } = owner.client;
    for (const [name, value] of [
      ['token', token],
      ['auth', Buffer.from(`Bearer ${token}`).toString('base64url')],
    ]) {
      const refused = { status: 422, body: { detail: `${name}: must be given once` } };
      expect(
        await streams.open(transport, { topic: open.name, query: `?${name}=${value}&${name}=${value}` }),
      ).toMatchObject(refused);
      expect(await streams.open(transport, { query: `?topics=${open.name}&${name}=${value}&${name}=x` })).toMatchObject(
        refused,
      );
    }
  });
});

test('a WebSocket path without an upgrade returns 426', async () => {
  const { open } = await topics();
  const caller = stack.caller();
  for (const path of [`/${open.name}/ws`, `/ws?topics=${open.name}`, '/ws']) {
    const answer = await caller.get(path);
    expect(answer).toMatchObject({ status: 426, body: { detail: expect.any(String) } });
    expect(answer.headers.get('upgrade')).toBe('websocket');
  }
  expect(await stack.caller({ Authorization: 'Bearer nonsense' }).get('/ws')).toMatchObject(badCredential);
  for (const path of ['/sse', '/ws', `/${open.name}/sse`, `/${open.name}/ws`]) {
    const answer = await caller.post(path);
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  }
});

test('refuses upgrades of other paths with JSON', async () => {
  expect(await streams.ws('/nothing/at/all')).toMatchObject({ status: 404, body: { detail: 'Not found' } });
});

test('returns 400 for an invalid handshake', async () => {
  const { open } = await topics();
  const answer = await fetch(`${testStack().urls[0]}/${open.name}/ws`, {
    headers: { 'Sec-WebSocket-Version': '13', 'X-Forwarded-For': newAddress() },
  });
  expect(answer.status).toBe(426);
});

test('refuses WebSockets from pages of other sites', async () => {
  const { open } = await topics();
  const { env, urls } = testStack();
  const connect = (origin: string) =>
    new Promise<number>((resolve) => {
      const socket = new WebSocket(`${urls[0]!.replace('http', 'ws')}/${open.name}/ws`, {
        origin,
        headers: { 'X-Forwarded-For': newAddress() },
      });
      socket.on('error', () => undefined);
      socket.once('unexpected-response', (_request, response) => {
        resolve(response.statusCode!);
        response.destroy();
      });
      socket.once('open', () => {
        resolve(101);
        socket.terminate();
      });
    });
  expect(await connect(new URL(env['APP_URL'] ?? urls[0]!).origin)).toBe(101);
  expect(await connect(new URL(env['BASE_URL'] ?? urls[0]!).origin)).toBe(101);
  expect(await connect('https://evil.example')).toBe(403);
  expect(await connect('null')).toBe(403);
});
