import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import type { ApiDeps } from '@tocsin/api/api-deps.ts';
import type { Route } from '@tocsin/api/http/route.ts';
import { routes } from '@tocsin/api/routes.ts';
import { scopes, type Scope } from '@tocsin/shared/domain/credentials.ts';
import { createTopic, type Answer } from './stack.ts';
import { useStack, type Caller } from './use-stack.ts';

const stack = useStack();

/** The table of routes, to be read and not to be served. */
const table = routes({ engine: { kind: 'embedded', jwtSecrets: [] }, config: {}, baseUrl: '' } as unknown as ApiDeps);
const nameOf = ({ method, path }: Route): string => `${method} ${path}`;
const rows = (keep: (route: Route) => boolean) => table.filter(keep).map((route) => [nameOf(route), route] as const);

/** Which scope the decisions give to a route; undefined: it takes none, or no key at all. */
const rules: readonly (readonly [RegExp, Scope | undefined])[] = [
  [/^(POST|PUT) \/(\{topic\})?$/, 'publish'],
  [/^(PATCH|DELETE) \/api\/\{topic_name\}\/messages\//, 'topics:write'],
  [/ \/api\/topics\/\{name\}\/(messages|log|consumers)/, 'subscribe'],
  [/ \/api\/messages\/|^GET \/(\{topic\}\/(json|sse|ws)|sse|ws)$|^POST \/api\/sse\/sessions$/, 'subscribe'],
  [/^GET \/api\/topics(\/public|\/\{name\}(\/stats)?)?$/, undefined],
  [/^GET \/api\/topics/, 'topics:read'],
  [/ \/api\/topics/, 'topics:write'],
  [/^GET \/api\/keys/, 'keys:read'],
  [/ \/api\/keys/, 'keys:write'],
  [/^(DELETE \/api\/users\/me|POST \/auth\/password-change)$/, undefined],
  [/^GET (\/api\/(users|teams|devices|subscriptions)|\/auth\/(me|consent-history)$)/, 'account:read'],
  [/ \/api\/(users|teams|devices|subscriptions)| \/auth\/accept-terms$/, 'account:write'],
  [/ /, undefined],
];

/** The route's path with something in the place of each parameter; ids are of nothing that exists. */
function pathOf(route: Route, topic: string): string {
  return route.path.replaceAll(/\{(\w+)\}/g, (_, parameter: string) =>
    (['topic', 'name', 'topic_name'].includes(parameter) ? topic : parameter.endsWith('_id') ? randomUUID() : 'someone'));
}

/** Calls the route without anything that it could act on. Streams are asked by HEAD, so that none is opened. */
function call(caller: Caller, route: Route, topic: string): Promise<Answer> {
  if (route.isStream === true) return caller.head(pathOf(route, topic));
  const send = { GET: caller.get, POST: caller.post, PUT: caller.put, PATCH: caller.patch, DELETE: caller.delete }[route.method];
  return send(pathOf(route, topic));
}

const operator = 'the-operator-of-the-tests';
let topic: string;
const byScopes = new Map<string, Caller>();
const withAll = (): Caller => byScopes.get('*')!;
const withOnly = (scope: Scope): Caller => byScopes.get(scope)!;
const withAllBut = (scope: Scope): Caller => byScopes.get(`not ${scope}`)!;

beforeAll(async () => {
  const owner = await stack.person({ tier: 'TEAM' });
  topic = (await createTopic(owner)).name;
  const keyOf = async (granted: readonly Scope[]) => stack.caller({ 'X-API-Key': (await owner.post('/api/keys', { name: 'k', scopes: granted })).body.key });
  for (const scope of scopes) {
    byScopes.set(scope, await keyOf([scope]));
    byScopes.set(`not ${scope}`, await keyOf(scopes.filter((other) => other !== scope && other !== '*')));
  }
  byScopes.set('token', stack.caller({ 'X-Topic-Token': (await owner.post(`/api/topics/${topic}/access-tokens`, { name: 't', permissions: ['read', 'write'] })).body.token }));
  byScopes.set('login', owner);
});

test('every route has the scope that the table of scopes gives it', () => {
  const expected = table.map((route) => [nameOf(route), rules.find(([form]) => form.test(nameOf(route)))![1]]);
  expect(table.map((route) => [nameOf(route), route.scope])).toEqual(expected);
});

test('a route that is for accounts names a scope, or is for logins alone', () => {
  expect(rows(({ audience, scope }) => audience === 'account' && scope === undefined)).toEqual([]);
});

test('X-Topic-Token is looked at first on the routes that a topic token opens, and not where an account is needed', () => {
  const isOpened = ({ audience, path }: Route): boolean => audience === 'anyone' && /^\/$|\{(topic|name)\}/.test(path);
  const needsAccount = ({ audience }: Route): boolean => audience === 'account' || audience === 'login';
  expect(rows((route) => isOpened(route) && route.isTopicRoute !== true)).toEqual([]);
  expect(rows((route) => needsAccount(route) && route.isTopicRoute === true)).toEqual([]);
});

describe.each(rows(({ scope }) => scope !== undefined))('%s', (_name, route) => {
  const missing = `Missing scope: ${route.scope!}`;

  test('is closed to a key that has every scope but this one', async () => {
    const answer = await call(withAllBut(route.scope!), route, topic);
    expect(answer.status).toBe(403);
    // A HEAD has no body that could say so.
    if (route.isStream !== true) expect(answer.body).toEqual({ detail: missing });
  });

  test('is open to a key that has this scope, or all', async () => {
    for (const caller of [withOnly(route.scope!), withAll()]) {
      const answer = await call(caller, route, topic);
      expect(answer.status).not.toBe(401);
      expect(String(answer.body?.detail)).not.toMatch(/^(Missing scope|Requires a login)/);
      if (route.isStream === true) expect(answer.status).not.toBe(403);
    }
  });
});

test.each(rows(({ audience }) => audience === 'login'))('%s takes a login, and no key', async (_name, route) => {
  expect(await call(withAll(), route, topic)).toMatchObject({ status: 403, body: { detail: 'Requires a login' } });
});

test.each(rows(({ audience }) => audience === 'account' || audience === 'login'))('%s is closed to a topic token', async (_name, route) => {
  expect(await call(byScopes.get('token')!, route, topic)).toMatchObject({ status: 403, body: { detail: 'A topic token opens only its topic' } });
});

test.each(rows(({ audience }) => audience === 'operator'))('%s takes the operator\'s token alone', async (_name, route) => {
  expect(await call(stack.caller(), route, topic)).toMatchObject({ status: 401, body: { detail: 'Not authenticated' } });
  const wrong = { status: 401, body: { detail: 'Could not validate credentials' } };
  expect(await call(byScopes.get('login')!, route, topic)).toMatchObject(wrong);
  for (const [header, value] of [['X-API-Key', operator], ['Authorization', `Basic ${btoa(`x:${operator}`)}`], ['X-Topic-Token', operator]] as const) {
    expect((await call(stack.caller({ [header]: value }), route, topic)).status).toBe(401);
  }
  expect((await call(stack.caller({ Authorization: `Bearer ${operator}` }), route, topic)).status).not.toBe(401);
});
