import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { isStream, readOperations, type Operation } from '../support/operations.ts';
import { createTopic, type Answer } from '../support/stack.ts';
import { useStack, type Caller, type Person } from '../support/use-stack.ts';
import { useStreams } from '../support/use-streams.ts';
import { fixtures, makeWorld, snapshotOf, type World } from '../support/world.ts';

const stack = useStack();
const streams = useStreams();
const table = await readOperations();

let world: World;
let stranger: Person;
/** What the world's owner sees; requests of strangers must not change it. */
let standing: unknown;
const expectNothingChanged = async () => expect(await snapshotOf(world)).toEqual(standing);
/** Unrelated callers: another account by login and by key, the token of another topic, and an anonymous caller. */
const credentials = new Map<string, Record<string, string>>();
const kinds = ['login', 'key', 'topic token', 'nobody'] as const;

beforeAll(async () => {
  world = await makeWorld(stack);
  // This account has the highest tier, so that no tier limit refuses it.
  stranger = await stack.person({ tier: 'TEAM' });
  const topic = await createTopic(stranger);
  const { token } = (
    await stranger.post(`/api/topics/${topic.name}/access-tokens`, { name: 't', permissions: ['read', 'write'] })
  ).body;
  credentials.set('login', { Authorization: `Bearer ${stranger.client.token}` });
  credentials.set('key', { 'X-API-Key': (await stranger.post('/api/keys', { name: 'k' })).body.key });
  credentials.set('topic token', { 'X-Topic-Token': token });
  standing = await snapshotOf(world);
});
/** Each call has its own address, so that rate limits do not interfere. */
const callerOf = (kind: (typeof kinds)[number]): Caller => stack.caller(credentials.get(kind));

/** The value of each path parameter: an object of the world. */
const parameters: Readonly<Record<string, (world: World) => string>> = {
  topic: ({ topic }) => topic.name,
  name: ({ topic }) => topic.name,
  topic_name: ({ topic }) => topic.name,
  topic_id: ({ topic }) => topic.id,
  message_id: ({ message }) => message.id,
  scheduled_id: ({ scheduled }) => scheduled.id,
  key_id: ({ key }) => key.id,
  session_id: ({ login }) => login.id,
  token_id: ({ token }) => token.id,
  team_id: ({ team }) => team,
  user_id: ({ other }) => other.id,
  team_subscription_id: ({ teamSubscription }) => teamSubscription.id,
  invite_id: ({ invite }) => invite.id,
  device_id: ({ device }) => device.id,
  subscription_id: ({ subscription }) => subscription.id,
  consumer: () => 'c',
  sequence_id: () => 's',
  sink_id: ({ sink }) => sink,
  token: () => 'no-such-token',
  email: ({ owner }) => owner.email,
};
const parametersOf = ({ path }: Operation): string[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, parameter]) => parameter!);
const withParameters = table.filter((operation) => parametersOf(operation).length > 0);

function pathOf(operation: Operation): string {
  // Reads use the name and changes the ID.
  if (/^(PATCH|DELETE) \/api\/topics\/\{\w+\}$/.test(operation.name)) return `/api/topics/${world.topic.id}`;
  return operation.path.replaceAll(/\{(\w+)\}/g, (_, parameter: string) => parameters[parameter]!(world));
}

async function ask(
  headers: Record<string, string> | undefined,
  operation: Operation,
): Promise<Pick<Answer, 'status' | 'body'>> {
  const [caller, path] = [stack.caller(headers), pathOf(operation)];
  if (operation.path.endsWith('/ws')) return streams.ws(path, headers === undefined ? {} : { headers });
  if (isStream(operation)) return caller.head(path);
  if (operation.path === '/{topic}') return caller.publish(path.slice(1));
  const body = fixtures[operation.name]?.body?.(world);
  const methods = { GET: caller.get, POST: caller.post, PUT: caller.put, PATCH: caller.patch, DELETE: caller.delete };
  return methods[operation.method as keyof typeof methods](path, body);
}

test('every path parameter has a value here', () => {
  const unknown = withParameters.flatMap((operation) =>
    parametersOf(operation)
      .filter((parameter) => parameters[parameter] === undefined)
      .map((parameter) => `${operation.name}: ${parameter}`),
  );
  expect(unknown).toEqual([]);
  expect(withParameters.length).toBeGreaterThan(40);
});

test.each(withParameters.map((operation) => [operation.name, operation] as const))(
  '%s refuses strangers and changes nothing',
  async (name, operation) => {
    for (const kind of kinds) {
      const { status, body } = await ask(credentials.get(kind), operation);
      // Accounts get a plain refusal, which reveals only that the topic exists.
      if (name === 'GET /api/subscriptions/check/{topic_name}' && (kind === 'login' || kind === 'key')) {
        expect({ kind, status, body }).toEqual({
          kind,
          status: 200,
          body: { subscribed: false, topic_name: world.topic.name },
        });
        continue;
      }
      expect({
        kind,
        status,
        isRefused: (kind === 'nobody' ? [401, 404] : [401, 403, 404]).includes(status),
      }).toMatchObject({ kind, isRefused: true });
      if (body !== undefined) expect(body).toEqual({ detail: expect.any(String) });
    }
    await expectNothingChanged();
  },
);

test('returns 404, not 403, for objects of another account', async () => {
  for (const path of [
    `/api/keys/${world.key.id}`,
    `/auth/sessions/${world.login.id}`,
    `/api/devices/${world.device.id}`,
    `/api/subscriptions/${world.subscription.id}`,
    `/api/teams/invites/${world.invite.id}`,
    `/api/messages/scheduled/${world.scheduled.id}`,
  ]) {
    expect({ path, status: (await stranger.delete(path)).status }).toEqual({ path, status: 404 });
  }
});

describe('a private topic', () => {
  test.each([
    ['a session', () => stranger.post('/api/sse/sessions', { topics: [world.topic.name] })],
    ['a subscription', () => stranger.post('/api/subscriptions', { topic_name: world.topic.name })],
    ['the JSON publish', () => stranger.post('/', { topic: world.topic.name, message: 'x' })],
    [
      'a topic for a team of others',
      () => stranger.post('/api/topics', { name: `s-${randomUUID()}`, team_id: world.team }),
    ],
    ['search', () => stranger.get(`/api/messages/search?topic=${world.topic.name}`)],
    ['recent messages', () => stranger.get(`/api/messages/recent?topic=${world.topic.name}`)],
    ['scheduled messages', () => stranger.get(`/api/messages/scheduled?topic=${world.topic.name}`)],
    ['activity', () => stranger.get(`/api/messages/activity?topics=${world.topic.name}`)],
    ['a stream of several topics', () => stranger.head(`/sse?topics=${world.topic.name}`)],
    [
      'a WebSocket of several topics',
      () => streams.ws(`/ws?topics=${world.topic.name}`, { token: stranger.client.token }),
    ],
  ])('cannot be used by a stranger for %s', async (_what, act: () => Promise<{ status: number }>) => {
    expect((await act()).status).toBe(403);
    await expectNothingChanged();
  });

  test('does not appear in lists, searches or counts of a stranger', async () => {
    const marks = [
      world.topic.name,
      world.topic.id,
      world.message.id,
      world.scheduled.id,
      world.owner.id,
      world.team,
      world.owner.email,
    ];
    const lists = table.filter(
      (operation) =>
        operation.method === 'GET' &&
        parametersOf(operation).length === 0 &&
        !isStream(operation) &&
        !/\/auth\/google|\/metrics|\/auth\/verify/.test(operation.path),
    );
    expect(lists.length).toBeGreaterThan(15);
    for (const { path } of lists) {
      for (const kind of kinds) {
        const { body } = await callerOf(kind).get(path);
        const text = JSON.stringify(body);
        expect({ path, kind, found: marks.filter((mark) => text.includes(mark)) }).toEqual({ path, kind, found: [] });
      }
    }
    // The owner sees it, so the same request would find it.
    expect(JSON.stringify((await world.owner.get('/api/topics/my')).body)).toContain(world.topic.id);
    expect((await stranger.get('/api/messages/activity')).body.total).toBe(0);
  });

  test('refuses a token of its own with only the other permission', async () => {
    const tokens = `/api/topics/${world.topic.name}/access-tokens`;
    const make = async (permissions: string[]) =>
      (await world.owner.post(tokens, { name: 't', permissions })).body as { id: string; token: string };
    const [reading, writing] = [await make(['read']), await make(['write'])];
    for (const operation of withParameters.filter(({ path }) => /^\/\{topic\}|^\/api\/topics\/\{name\}/.test(path))) {
      const isPublish = operation.path === '/{topic}' || /^P.* \/\{topic\}\/\{sequence_id\}$/.test(operation.name);
      const { status } = await ask({ 'X-Topic-Token': (isPublish ? reading : writing).token }, operation);
      expect({ operation: operation.name, status }).toEqual({ operation: operation.name, status: 403 });
    }
    for (const { id } of [reading, writing]) await world.owner.delete(`${tokens}/${id}`);
    await expectNothingChanged();
  });
});
