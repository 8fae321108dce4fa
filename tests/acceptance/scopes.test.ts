import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { scopes, type Scope } from '@tocsin/shared/domain/accounts/credentials.ts';
import { isStream, readOperations, type Operation } from '../support/operations.ts';
import { createTopic, type Answer, testStack } from '../support/stack.ts';
import { useStack, type Caller } from '../support/use-stack.ts';

const stack = useStack();
const operator = testStack().env['ADMIN_TOKEN']!;

const table = await readOperations();

/** What the credential must grant; undefined if no credential of that kind suffices. */
const grantOf = ({ security }: Operation, credential: string): readonly string[] | undefined =>
  security.find((one) => credential in one)?.[credential];
const scopeOf = (route: Operation): string | undefined => grantOf(route, 'apiKey')?.[0];
const needsAccount = (route: Operation): boolean =>
  grantOf(route, 'accessToken') !== undefined && !route.security.some((one) => Object.keys(one).length === 0);
const rows = (keep: (route: Operation) => boolean) => table.filter(keep).map((route) => [route.name, route] as const);

/** The scope that a route requires; undefined if it requires none or accepts no key. */
const rules: readonly (readonly [RegExp, Scope | undefined])[] = [
  [/^(POST|PUT) \/(\{topic\}(\/\{sequence_id\})?)?$|^DELETE \/api\/messages\/scheduled\//, 'publish'],
  [/ \/api\/messages\/\{message_id\}\/ack$/, 'publish'],
  [/^(PATCH|DELETE) \/api\/\{topic_name\}\/messages\/|\/renotify$|^DELETE \/\{topic\}\//, 'topics:write'],
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

/** The route's path with its parameters filled in; IDs refer to nothing. */
function pathOf(route: Operation, topic: string): string {
  return route.path.replaceAll(/\{(\w+)\}/g, (_, parameter: string) =>
    ['topic', 'name', 'topic_name'].includes(parameter) ? topic : parameter.endsWith('_id') ? randomUUID() : 'someone',
  );
}

/** Calls the route without input. Streams are requested with HEAD, so that none opens. */
function call(caller: Caller, route: Operation, topic: string): Promise<Answer> {
  return caller.send(isStream(route) ? 'HEAD' : route.method, pathOf(route, topic));
}

let topic: string;
const callers = new Map<string, Caller>();
beforeAll(async () => {
  const owner = await stack.person({ tier: 'TEAM' });
  topic = (await createTopic(owner)).name;
  const keyOf = async (granted: readonly Scope[]) =>
    stack.caller({ 'X-API-Key': (await owner.post('/api/keys', { name: 'k', scopes: granted })).body.key });
  for (const scope of scopes) {
    callers.set(scope, await keyOf([scope]));
    callers.set(`all but ${scope}`, await keyOf(scopes.filter((other) => other !== scope && other !== '*')));
  }
  callers.set(
    'topic token',
    stack.caller({
      'X-Topic-Token': (
        await owner.post(`/api/topics/${topic}/access-tokens`, { name: 't', permissions: ['read', 'write'] })
      ).body.token,
    }),
  );
  callers.set('login', owner);
});
const callBy = (caller: string, route: Operation): Promise<Answer> => call(callers.get(caller)!, route, topic);

test('every route requires the scope in the table', () => {
  expect(table.length).toBeGreaterThan(70);
  const expected = table.map((route) => [route.name, rules.find(([form]) => form.test(route.name))![1]]);
  expect(table.map((route) => [route.name, scopeOf(route)])).toEqual(expected);
});

test('every account route requires a scope or refuses keys', () => {
  expect(rows((route) => needsAccount(route) && grantOf(route, 'apiKey')?.length === 0)).toEqual([]);
});

describe.each(rows((route) => scopeOf(route) !== undefined))('%s', (_name, route) => {
  const scope = scopeOf(route)!;

  test('refuses a key with every scope except the required one', async () => {
    const answer = await callBy(`all but ${scope}`, route);
    expect(answer.status).toBe(403);
    // A HEAD response has no body to check.
    if (!isStream(route)) expect(answer.body).toEqual({ detail: `Missing scope: ${scope}` });
  });

  test('accepts a key with the required scope or all scopes', async () => {
    for (const granted of [scope, '*']) {
      const answer = await callBy(granted, route);
      expect(answer.status).not.toBe(401);
      expect(String(answer.body?.detail)).not.toMatch(/^(Missing scope|Requires a login)/);
      if (isStream(route)) expect(answer.status).not.toBe(403);
    }
  });
});

test.each(scopes.filter((scope) => scope !== '*'))(
  'every route that requires another scope refuses a key with only %s',
  async (scope) => {
    const others = table.filter((route) => scopeOf(route) !== undefined && scopeOf(route) !== scope);
    expect(others.length).toBeGreaterThan(20);
    for (const route of others) {
      const { status, body } = await callBy(scope, route);
      expect({ route: route.name, status, body }).toEqual({
        route: route.name,
        status: 403,
        body: isStream(route) ? undefined : { detail: `Missing scope: ${scopeOf(route)}` },
      });
    }
  },
);

test.each(rows((route) => needsAccount(route) && grantOf(route, 'apiKey') === undefined))(
  '%s requires a login and refuses keys',
  async (_name, route) => {
    expect(await callBy('*', route)).toMatchObject({ status: 403, body: { detail: 'Requires a login' } });
  },
);

test.each(rows((route) => needsAccount(route) && grantOf(route, 'topicToken') === undefined))(
  '%s refuses topic tokens',
  async (_name, route) => {
    expect(await callBy('topic token', route)).toMatchObject({
      status: 403,
      body: { detail: 'A topic token opens only its topic' },
    });
  },
);

test.each(rows((route) => grantOf(route, 'adminToken') !== undefined))(
  "%s accepts only the operator's token",
  async (_name, route) => {
    expect(route.security).toEqual([{ adminToken: [] }]);
    expect(await call(stack.caller(), route, topic)).toMatchObject({
      status: 401,
      body: { detail: 'Not authenticated' },
    });
    expect(await callBy('login', route)).toMatchObject({
      status: 401,
      body: { detail: 'Could not validate credentials' },
    });
    for (const [header, value] of [
      ['X-API-Key', operator],
      ['Authorization', `Basic ${btoa(`x:${operator}`)}`],
      ['X-Topic-Token', operator],
    ] as const) {
      expect((await call(stack.caller({ [header]: value }), route, topic)).status).toBe(401);
    }
    expect((await call(stack.caller({ Authorization: `Bearer ${operator}` }), route, topic)).status).not.toBe(401);
  },
);
