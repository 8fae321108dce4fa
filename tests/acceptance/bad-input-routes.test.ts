import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { badBodies, badParameters, type Schema } from './bad-values.ts';
import { Client, createTopic, testStack, type Answer } from './stack.ts';
import { useStack, type Caller, type Person } from './use-stack.ts';

const stack = useStack();

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly schema: Schema;
}
interface Operation {
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
}
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- a document of any shape, read by reference
let document: any;

/** One of everything, so that a request that should change nothing has something to change. */
interface World {
  readonly owner: Person;
  readonly other: Person;
  readonly topic: { id: string; name: string };
  readonly message: { id: string };
  readonly key: { id: string };
  readonly token: { id: string };
  readonly team: string;
  readonly invite: { id: string };
  readonly device: { id: string };
  readonly subscription: { id: string };
}
let world: World;

const password = 'correct horse battery';
const pushToken = () => `ExponentPushToken[${randomUUID()}]`;

beforeAll(async () => {
  document = (await new Client().call('GET', '/openapi.json')).body;
  const [owner, other] = [await stack.person({ tier: 'TEAM' }), await stack.person()];
  const topic = await createTopic(owner);
  const team = await stack.team(owner, [[other, 'member']]);
  const invite = (await owner.post(`/api/teams/${team}/invites`, { email: `${randomUUID()}@example.org`, role: 'member' })).body;
  const device = (await owner.post('/api/devices/register', { push_token: pushToken(), platform: 'expo', device_id: 'd1' })).body;
  world = {
    owner, other, topic, team, invite, device,
    message: (await owner.publish(topic.name)).body, key: (await owner.post('/api/keys', { name: 'k' })).body,
    token: (await owner.post(`/api/topics/${topic.name}/access-tokens`, { name: 't', permissions: ['read'] })).body,
    subscription: (await owner.post('/api/subscriptions', { topic_name: topic.name })).body,
  };
  await owner.put(`/api/topics/${topic.name}/consumers/c`, { offset: 1 });
}, 60_000);

/** Everything of the world that a request could change, as its owner sees it. */
async function snapshot(): Promise<unknown> {
  const { owner, topic, team } = world;
  const paths = [
    '/api/users/me', '/auth/me', '/auth/consent-history', '/api/topics/my', `/api/topics/${topic.name}/access-tokens`, `/api/topics/${topic.name}/consumers`, `/${topic.name}/json`,
    `/api/topics/${topic.name}/log`, '/api/keys', '/api/devices/my', '/api/subscriptions', '/api/teams', `/api/teams/${team}`, `/api/teams/${team}/invites`,
  ];
  return Promise.all(paths.map(async (path) => [path, (await owner.get(path)).body]));
}

interface Fixture {
  readonly path: () => string;
  /** A body that is taken; made anew for what may be there once only. */
  readonly body?: () => Record<string, unknown>;
  /** Who asks; the owner of the world by default. Nobody, at an address of its own each time, where no credential is looked at. */
  readonly by?: 'owner' | 'nobody' | 'operator';
}

/** A request for every operation that takes a body or parameters, which would do something if it were right. */
const fixtures: Readonly<Record<string, Fixture>> = {
  'POST /api/topics': { path: () => '/api/topics', body: () => ({ name: `b-${randomUUID()}`, access_level: 'public', description: 'd', is_discoverable: false, icon_name: 'bell', icon_color: '#00FF00', team_id: world.team }) },
  'PATCH /api/topics/{name}': { path: () => `/api/topics/${world.topic.id}`, body: () => ({ description: 'changed' }) },
  'GET /api/topics': { path: () => '/api/topics' },
  'GET /api/topics/my': { path: () => '/api/topics/my' },
  'GET /api/topics/public': { path: () => '/api/topics/public' },
  'GET /{topic}/json': { path: () => `/${world.topic.name}/json` },
  'GET /api/topics/{name}/log': { path: () => `/api/topics/${world.topic.name}/log` },
  'PUT /api/topics/{name}/consumers/{consumer}': { path: () => `/api/topics/${world.topic.name}/consumers/c`, body: () => ({ offset: 2 }) },
  'POST /api/sse/sessions': { path: () => '/api/sse/sessions', body: () => ({ topics: [world.topic.name], since_id: { [world.topic.name]: world.message.id } }) },
  'GET /api/topics/{name}/messages': { path: () => `/api/topics/${world.topic.name}/messages` },
  'GET /api/messages/search': { path: () => '/api/messages/search' },
  'GET /api/messages/recent': { path: () => '/api/messages/recent' },
  'GET /api/messages/activity': { path: () => '/api/messages/activity' },
  'PATCH /api/{topic_name}/messages/{message_id}': { path: () => `/api/${world.topic.name}/messages/${world.message.id}`, body: () => ({ message: 'changed', title: 'changed' }) },
  'POST /auth/register': { path: () => '/auth/register', by: 'nobody', body: () => ({ email: `${randomUUID()}@example.org`, username: `u-${randomUUID().slice(0, 8)}`, password, terms_accepted: true }) },
  'POST /auth/login': { path: () => '/auth/login', by: 'nobody', body: () => ({ email: world.owner.email, password }) },
  'POST /auth/apple/mobile': { path: () => '/auth/apple/mobile', by: 'nobody', body: () => ({ identity_token: 'x.y.z', user: 'u', full_name: { givenName: 'a', familyName: 'b' } }) },
  'POST /auth/refresh': { path: () => '/auth/refresh', by: 'nobody', body: () => ({ refresh_token: 'x' }) },
  'POST /auth/resend-verification': { path: () => '/auth/resend-verification', by: 'nobody', body: () => ({ email: world.owner.email }) },
  'POST /auth/password-reset/request': { path: () => '/auth/password-reset/request', by: 'nobody', body: () => ({ email: world.owner.email }) },
  'POST /auth/password-reset/confirm': { path: () => '/auth/password-reset/confirm', by: 'nobody', body: () => ({ token: 'x', new_password: password }) },
  'POST /auth/password-change': { path: () => '/auth/password-change', body: () => ({ current_password: password, new_password: `${password} 2` }) },
  'POST /auth/accept-terms': { path: () => '/auth/accept-terms', body: () => ({ accepted: true, consent_method: 'web_checkbox' }) },
  'PATCH /api/users/me': { path: () => '/api/users/me', body: () => ({ username: `u-${randomUUID().slice(0, 8)}` }) },
  'DELETE /api/users/me': { path: () => '/api/users/me', body: () => ({ password }) },
  'POST /api/keys': { path: () => '/api/keys', body: () => ({ name: 'k2', description: 'd', scopes: ['publish'], expires_at: '2100-01-01' }) },
  'POST /api/topics/{topic}/access-tokens': { path: () => `/api/topics/${world.topic.name}/access-tokens`, body: () => ({ name: 't2', permissions: ['read'] }) },
  'POST /api/teams': { path: () => '/api/teams', body: () => ({ name: `t-${randomUUID().slice(0, 8)}`, display_name: 'A team', description: 'd' }) },
  'PATCH /api/teams/{team_id}': { path: () => `/api/teams/${world.team}`, body: () => ({ display_name: 'changed' }) },
  'DELETE /api/teams/{team_id}': { path: () => `/api/teams/${world.team}` },
  'PATCH /api/teams/{team_id}/members/{user_id}': { path: () => `/api/teams/${world.team}/members/${world.other.id}`, body: () => ({ role: 'admin' }) },
  'POST /api/teams/{team_id}/invites': { path: () => `/api/teams/${world.team}/invites`, body: () => ({ email: `${randomUUID()}@example.org`, role: 'member' }) },
  'POST /api/teams/invites/accept': { path: () => '/api/teams/invites/accept', body: () => ({ token: 'x' }) },
  'POST /api/devices/register': { path: () => '/api/devices/register', body: () => ({ push_token: pushToken(), platform: 'expo', device_id: 'd1', device_name: 'changed', app_version: '2' }) },
  'PUT /api/devices/{device_id}': { path: () => `/api/devices/${world.device.id}`, body: () => ({ device_name: 'changed' }) },
  'POST /api/subscriptions': { path: () => '/api/subscriptions', body: () => ({ topic_name: world.topic.name, web_notifications_enabled: false, mobile_notifications_enabled: false }) },
  'PATCH /api/subscriptions/{subscription_id}': { path: () => `/api/subscriptions/${world.subscription.id}`, body: () => ({ is_pinned: true }) },
  'PUT /admin/users/{email}/tier': { path: () => `/admin/users/${world.owner.email}/tier`, by: 'operator', body: () => ({ tier: 'FREE' }) },
};

/** What is judged elsewhere: publishing takes text, a link that is followed answers with a page, and streams are refused before they begin. */
const elsewhere = /^(POST|PUT) \/(\{topic\})?$|^GET \/auth\/|^GET \/(\{topic\}\/)?(sse|ws)$/;

const resolve = (schema: Schema): Schema => (schema.$ref === undefined ? schema : schema.$ref.split('/').slice(1).reduce((at, key) => at[key], document));
const operationOf = (name: string): Operation => {
  const [method, path] = name.split(' ') as [string, string];
  return document.paths[path][method.toLowerCase()];
};
const bodySchema = ({ requestBody }: Operation): Schema | undefined => requestBody && resolve(requestBody.content['application/json']!.schema);
const queryOf = ({ parameters = [] }: Operation) => parameters.filter((parameter) => parameter.in === 'query');

function callerOf({ by = 'owner' }: Fixture): Caller {
  if (by === 'owner') return world.owner;
  return stack.caller(by === 'nobody' ? {} : { Authorization: `Bearer ${testStack().env['ADMIN_TOKEN']}` });
}

/** Sends what should be refused, a few at a time. */
async function eachRefused<T>(inputs: readonly T[], send: (input: T) => Promise<Answer>, judge: (input: T, answer: Answer) => void): Promise<void> {
  for (let at = 0; at < inputs.length; at += 10) {
    const batch = inputs.slice(at, at + 10);
    const answers = await Promise.all(batch.map(send));
    batch.forEach((input, index) => judge(input, answers[index]!));
  }
}

const methods: Readonly<Record<string, keyof Caller>> = { GET: 'get', POST: 'post', PUT: 'put', PATCH: 'patch', DELETE: 'delete' };
const callWith = (caller: Caller, method: string, path: string, json?: unknown) => (caller[methods[method]!] as Caller['post'])(path, json);

test('every operation that takes input has a row here', () => {
  const all = Object.entries(document.paths as Record<string, Record<string, Operation>>).flatMap(([path, item]) =>
    Object.entries(item).filter(([, operation]) => operation.requestBody !== undefined || queryOf(operation).length > 0).map(([method]) => `${method.toUpperCase()} ${path}`));
  expect(all.filter((name) => !elsewhere.test(name) && fixtures[name] === undefined)).toEqual([]);
});

describe.each(Object.entries(fixtures))('%s', (name, fixture) => {
  const method = name.split(' ')[0]!;

  if (fixture.body !== undefined) {
    test('refuses each field that is missing, of another type, too long, unknown or injected, and changes nothing', async () => {
      const schema = bodySchema(operationOf(name))!;
      const before = await snapshot();
      const bad = badBodies(schema, fixture.body!(), method === 'PATCH');
      // A field without a value that is bad would be one that nobody looks at.
      expect(new Set(bad.map(({ field }) => field))).toEqual(new Set(Object.keys(schema.properties!)));
      await eachRefused(bad, ({ body }) => callWith(callerOf(fixture), method, fixture.path(), body), ({ field, body }, answer) => {
        expect({ field, body, status: answer.status, detail: answer.body?.detail }).toEqual({ field, body, status: 422, detail: expect.stringMatching(new RegExp(`(^|; )${field}\\b`)) });
      });
      expect(await snapshot()).toEqual(before);
    }, 120_000);

    test('refuses what is no JSON object, is too large or of another type', async () => {
      const before = await snapshot();
      const send = (text: string | Uint8Array<ArrayBuffer>, type = 'application/json') => {
        const headers = { 'Content-Type': type, ...(fixture.by === 'operator' ? { Authorization: `Bearer ${testStack().env['ADMIN_TOKEN']}` } : {}) };
        const client = fixture.by === undefined ? world.owner.client : new Client();
        return client.call(method, fixture.path(), { text, headers });
      };
      const valid = JSON.stringify(fixture.body!());
      for (const text of ['', '{', valid.slice(0, -1), `${valid}x`, '{"a":1,}', '\u0000']) expect({ text, status: (await send(text)).status }).toEqual({ text, status: 400 });
      for (const text of ['[]', 'null', '7', '"text"', `[${valid}]`]) expect({ text, status: (await send(text)).status }).toEqual({ text, status: 422 });
      expect((await send(new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x7d]))).status).toBe(422);
      expect((await send(valid, 'text/plain')).status).toBe(415);
      expect((await send(valid, 'application/x-www-form-urlencoded')).status).toBe(415);
      expect((await send(`{"x":"${'x'.repeat(65_536)}"}`)).status).toBe(413);
      expect(await snapshot()).toEqual(before);
    }, 120_000);
  }

  test('refuses each parameter that is out of form, or given twice', async () => {
    const before = await snapshot();
    for (const { name: parameter, schema } of queryOf(operationOf(name))) {
      const bad = badParameters(resolve(schema)).map((text) => `${parameter}=${encodeURIComponent(text)}`);
      if (resolve(schema).type !== 'array') bad.push(`${parameter}=1&${parameter}=1`);
      await eachRefused(bad, (query) => callWith(callerOf(fixture), method, `${fixture.path()}?${query}`, fixture.body?.()), (query, answer) => {
        expect({ query, status: answer.status, detail: answer.body?.detail }).toEqual({ query, status: 422, detail: expect.stringContaining(parameter) });
      });
    }
    expect(await snapshot()).toEqual(before);
  }, 120_000);
});

test('an id in a path that is no UUID is a 422, whatever it holds, and changes nothing', async () => {
  const before = await snapshot();
  const known: Readonly<Record<string, string>> = { topic: world.topic.name, name: world.topic.name, topic_name: world.topic.name, team_id: world.team, user_id: world.other.id };
  for (const [path, item] of Object.entries(document.paths as Record<string, Record<string, Operation>>)) {
    const id = /\{(\w+_id)\}(?!.*\{\w+_id\})/.exec(path)?.[1];
    if (id === undefined) continue;
    for (const method of Object.keys(item)) {
      for (const bad of ['1', 'null', '%5B%24ne%5D', '.*', 'a%00b', '%0d%0a', '__proto__', `${randomUUID()}0`, 'x'.repeat(300)]) {
        const filled = path.replace(`{${id}}`, bad).replaceAll(/\{(\w+)\}/g, (_, parameter: string) => known[parameter] ?? randomUUID());
        const valid = fixtures[`${method.toUpperCase()} ${path}`]?.body?.();
        const answer = await callWith(world.owner, method.toUpperCase(), filled, valid);
        expect({ method, filled, status: answer.status, detail: answer.body?.detail }).toEqual({ method, filled, status: 422, detail: `${id}: must be a UUID` });
      }
    }
  }
  expect(await snapshot()).toEqual(before);
}, 120_000);

test('a name in a path that none can have is a 404, whatever it holds', async () => {
  for (const bad of ['a.b', '.*', '%5B%24ne%5D', 'a%00b', '%0d%0aX:1', '__proto__', 'constructor', '%7B%22%24ne%22:null%7D', 'x'.repeat(300), '%F0%9F%98%80']) {
    for (const path of [`/${bad}/json`, `/api/topics/${bad}`, `/api/topics/${bad}/stats`, `/api/topics/${bad}/log`, `/api/topics/${bad}/consumers`, `/api/topics/${bad}/access-tokens`, `/api/subscriptions/check/${bad}`]) {
      expect({ path, ...(await world.owner.get(path)) }).toMatchObject({ path, status: 404, body: { detail: 'Topic not found' } });
    }
    expect((await world.owner.publish(bad)).status).toBe(404);
  }
});
