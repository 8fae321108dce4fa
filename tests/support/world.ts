import { randomUUID } from 'node:crypto';
import { createTopic } from './stack.ts';
import type { Person, StackUse } from './use-stack.ts';

/**
 * One object of every kind, so that a request that must not change anything has something to change. The topic is
 * private.
 */
export interface World {
  readonly owner: Person;
  readonly other: Person;
  readonly topic: { id: string; name: string };
  readonly message: { id: string };
  readonly scheduled: { id: string };
  readonly key: { id: string };
  readonly login: { id: string };
  readonly token: { id: string };
  /** The ID of a paused sink, so that it changes only by requests. */
  readonly sink: string;
  readonly team: string;
  readonly teamTopic: { name: string };
  readonly teamSubscription: { id: string };
  readonly invite: { id: string };
  readonly device: { id: string };
  readonly subscription: { id: string };
}

const password = 'correct horse battery';
const pushToken = () => `ExponentPushToken[${randomUUID()}]`;

/** Creates a new world. */
export async function makeWorld(stack: StackUse): Promise<World> {
  const [owner, other] = [await stack.person({ tier: 'TEAM' }), await stack.person()];
  const team = await stack.team(owner, [[other, 'member']]);
  // Before the other one, so that the delayed time of its message does not change their order.
  const teamTopic = await createTopic(owner, { team_id: team, access_level: 'private' });
  const topic = await createTopic(owner, { access_level: 'private' });
  const teamSubscription = (
    await owner.post(`/api/teams/${team}/subscriptions`, { topic_name: teamTopic.name, members: [other.id] })
  ).body;
  const invite = (
    await owner.post(`/api/teams/${team}/invites`, { email: `${randomUUID()}@example.org`, role: 'member' })
  ).body;
  const device = (
    await owner.post('/api/devices/register', { push_token: pushToken(), platform: 'expo', device_id: 'd1' })
  ).body;
  const sinks = `/api/topics/${topic.id}/sinks`;
  const { id: sink } = (
    await owner.post(sinks, { name: 'tickets', kind: 'webhook', url: 'https://hooks.example.com/' })
  ).body as { id: string };
  await owner.patch(`${sinks}/${sink}`, { state: 'paused' });
  const world = {
    owner,
    other,
    topic,
    sink,
    team,
    teamTopic,
    teamSubscription,
    invite,
    device,
    message: (await owner.publish(topic.name)).body,
    scheduled: (await owner.post('/', { topic: topic.name, message: 'later', delay: '1d' })).body,
    key: (await owner.post('/api/keys', { name: 'k' })).body,
    login: (await owner.get('/auth/sessions')).body[0],
    token: (await owner.post(`/api/topics/${topic.name}/access-tokens`, { name: 't', permissions: ['read'] })).body,
    subscription: (await owner.post('/api/subscriptions', { topic_name: topic.name })).body,
  };
  await owner.put(`/api/topics/${topic.name}/consumers/c`, { offset: 1 });
  return world;
}

/** All changeable state of the world as its owner sees it, by path. */
export async function snapshotOf({ owner, topic, team }: World): Promise<unknown> {
  const paths = [
    '/api/users/me',
    '/auth/me',
    '/auth/consent-history',
    '/api/topics/my',
    `/api/topics/${topic.name}/access-tokens`,
    `/api/topics/${topic.name}/consumers`,
    `/api/topics/${topic.id}/sinks`,
    `/${topic.name}/json`,
    `/api/topics/${topic.name}/log`,
    '/api/messages/scheduled',
    '/api/keys',
    '/api/devices/my',
    '/api/subscriptions',
    '/api/teams',
    `/api/teams/${team}`,
    `/api/teams/${team}/invites`,
    `/api/teams/${team}/subscriptions`,
  ];
  return Promise.all(paths.map(async (path) => [path, (await owner.get(path)).body]));
}

/** A request for an operation that takes effect unless it is refused. */
export interface Fixture {
  readonly path: (world: World) => string;
  /** A valid body; created per request for objects that must be unique. */
  readonly body?: (world: World) => Record<string, unknown>;
  /**
   * The caller; the owner of the world by default. Anonymous with a new address per request for operations without
   * credentials.
   */
  readonly by?: 'owner' | 'nobody' | 'operator';
}

/** A request for every operation with a body or parameters that takes effect unless it is refused. */
export const fixtures: Readonly<Record<string, Fixture>> = {
  'POST /api/topics': {
    path: () => '/api/topics',
    body: (world) => ({
      name: `b-${randomUUID()}`,
      access_level: 'public',
      description: 'd',
      is_discoverable: false,
      icon_name: 'bell',
      icon_color: '#00FF00',
      team_id: world.team,
    }),
  },
  'PATCH /api/topics/{name}': {
    path: (world) => `/api/topics/${world.topic.id}`,
    body: () => ({ description: 'changed' }),
  },
  'GET /api/topics': { path: () => '/api/topics' },
  'GET /api/topics/my': { path: () => '/api/topics/my' },
  'GET /api/topics/public': { path: () => '/api/topics/public' },
  'GET /{topic}/json': { path: (world) => `/${world.topic.name}/json` },
  'GET /api/topics/{name}/log': { path: (world) => `/api/topics/${world.topic.name}/log` },
  'PUT /api/topics/{name}/consumers/{consumer}': {
    path: (world) => `/api/topics/${world.topic.name}/consumers/c`,
    body: () => ({ offset: 2 }),
  },
  'POST /api/topics/{name}/consumers/{consumer}/lease': {
    path: (world) => `/api/topics/${world.topic.name}/consumers/c/lease`,
    body: () => ({ ttl: 30 }),
  },
  'PUT /api/topics/{topic_id}/escalation': {
    path: (world) => `/api/topics/${world.topic.id}/escalation`,
    body: () => ({ min_priority: 5, repeat_every: '2m', repeat_max: 5, steps: [], auto_ack_on_resolve: true }),
  },
  'POST /api/topics/{topic_id}/sinks': {
    path: (world) => `/api/topics/${world.topic.id}/sinks`,
    // It must have nothing to send.
    body: () => ({
      name: 'tickets',
      kind: 'webhook',
      url: 'https://hooks.example.com/',
      filter: { priority_min: 5, tags: ['none'] },
    }),
  },
  'PATCH /api/topics/{topic_id}/sinks/{sink_id}': {
    path: (world) => `/api/topics/${world.topic.id}/sinks/${world.sink}`,
    body: () => ({ name: 'pager' }),
  },
  'GET /api/topics/{topic_id}/sinks/{sink_id}/deliveries': {
    path: (world) => `/api/topics/${world.topic.id}/sinks/${world.sink}/deliveries`,
  },
  'POST /api/messages/{message_id}/ack': {
    path: (world) => `/api/messages/${world.message.id}/ack`,
    body: () => ({ note: 'on my way' }),
  },
  'GET /api/messages/unacknowledged': { path: () => '/api/messages/unacknowledged' },
  'POST /api/sse/sessions': {
    path: () => '/api/sse/sessions',
    body: (world) => ({ topics: [world.topic.name], since_id: { [world.topic.name]: world.message.id } }),
  },
  'GET /api/topics/{name}/messages': { path: (world) => `/api/topics/${world.topic.name}/messages` },
  'GET /api/messages/search': { path: () => '/api/messages/search' },
  'GET /api/messages/recent': { path: () => '/api/messages/recent' },
  'GET /api/messages/activity': { path: () => '/api/messages/activity' },
  'GET /api/messages/scheduled': { path: () => '/api/messages/scheduled' },
  'PATCH /api/{topic_name}/messages/{message_id}': {
    path: (world) => `/api/${world.topic.name}/messages/${world.message.id}`,
    body: () => ({ message: 'changed', title: 'changed' }),
  },
  'POST /auth/register': {
    path: () => '/auth/register',
    by: 'nobody',
    body: () => ({
      email: `${randomUUID()}@example.org`,
      username: `u-${randomUUID().slice(0, 8)}`,
      password,
      terms_accepted: true,
    }),
  },
  'POST /auth/login': {
    path: () => '/auth/login',
    by: 'nobody',
    body: (world) => ({ email: world.owner.email, password }),
  },
  'POST /auth/apple/mobile': {
    path: () => '/auth/apple/mobile',
    by: 'nobody',
    body: () => ({ identity_token: 'x.y.z', user: 'u', full_name: { givenName: 'a', familyName: 'b' } }),
  },
  'POST /auth/verify-email/undo': {
    path: () => '/auth/verify-email/undo',
    by: 'nobody',
    body: () => ({ token: 'x' }),
  },
  'POST /auth/email-change/undo': {
    path: () => '/auth/email-change/undo',
    by: 'nobody',
    body: () => ({ token: 'x' }),
  },
  'DELETE /auth/sessions': { path: () => '/auth/sessions' },
  'POST /auth/refresh': { path: () => '/auth/refresh', by: 'nobody', body: () => ({ refresh_token: 'x' }) },
  'POST /auth/resend-verification': {
    path: () => '/auth/resend-verification',
    by: 'nobody',
    body: (world) => ({ email: world.owner.email }),
  },
  'POST /auth/password-reset/request': {
    path: () => '/auth/password-reset/request',
    by: 'nobody',
    body: (world) => ({ email: world.owner.email }),
  },
  'POST /auth/password-reset/confirm': {
    path: () => '/auth/password-reset/confirm',
    by: 'nobody',
    body: () => ({ token: 'x', new_password: password }),
  },
  'POST /auth/password-change': {
    path: () => '/auth/password-change',
    body: () => ({ current_password: password, new_password: `${password} 2` }),
  },
  'POST /auth/accept-terms': {
    path: () => '/auth/accept-terms',
    body: () => ({ accepted: true, consent_method: 'web_checkbox' }),
  },
  'PATCH /api/users/me': { path: () => '/api/users/me', body: () => ({ username: `u-${randomUUID().slice(0, 8)}` }) },
  'DELETE /api/users/me': { path: () => '/api/users/me', body: () => ({ password }) },
  'POST /api/keys': {
    path: () => '/api/keys',
    body: () => ({ name: 'k2', description: 'd', scopes: ['publish'], expires_at: '2100-01-01' }),
  },
  'POST /api/topics/{topic}/access-tokens': {
    path: (world) => `/api/topics/${world.topic.name}/access-tokens`,
    body: () => ({ name: 't2', permissions: ['read'] }),
  },
  'POST /api/teams': {
    path: () => '/api/teams',
    body: () => ({ name: `t-${randomUUID().slice(0, 8)}`, display_name: 'A team', description: 'd' }),
  },
  'PATCH /api/teams/{team_id}': {
    path: (world) => `/api/teams/${world.team}`,
    body: () => ({ display_name: 'changed' }),
  },
  'DELETE /api/teams/{team_id}': { path: (world) => `/api/teams/${world.team}` },
  'PATCH /api/teams/{team_id}/members/{user_id}': {
    path: (world) => `/api/teams/${world.team}/members/${world.other.id}`,
    body: () => ({ role: 'admin' }),
  },
  'POST /api/teams/{team_id}/invites': {
    path: (world) => `/api/teams/${world.team}/invites`,
    body: () => ({ email: `${randomUUID()}@example.org`, role: 'member' }),
  },
  'POST /api/teams/{team_id}/subscriptions': {
    path: (world) => `/api/teams/${world.team}/subscriptions`,
    body: (world) => ({ topic_name: world.teamTopic.name, members: [world.other.id], mandatory: true }),
  },
  'POST /api/teams/invites/accept': { path: () => '/api/teams/invites/accept', body: () => ({ token: 'x' }) },
  'POST /api/devices/register': {
    path: () => '/api/devices/register',
    body: () => ({
      push_token: pushToken(),
      platform: 'expo',
      device_id: 'd1',
      device_name: 'changed',
      app_version: '2',
    }),
  },
  'PUT /api/devices/{device_id}': {
    path: (world) => `/api/devices/${world.device.id}`,
    body: () => ({ device_name: 'changed' }),
  },
  'POST /api/subscriptions': {
    path: () => '/api/subscriptions',
    body: (world) => ({
      topic_name: world.topic.name,
      web_notifications_enabled: false,
      mobile_notifications_enabled: false,
    }),
  },
  'PATCH /api/subscriptions/{subscription_id}': {
    path: (world) => `/api/subscriptions/${world.subscription.id}`,
    body: () => ({ is_pinned: true }),
  },
  'POST /api/subscriptions/{subscription_id}/preview': {
    path: (world) => `/api/subscriptions/${world.subscription.id}/preview`,
    body: () => ({ mobile_notifications_enabled: true }),
  },
  'GET /admin/audit': { path: () => '/admin/audit', by: 'operator' },
  'GET /admin/push/dead-letters': { path: () => '/admin/push/dead-letters', by: 'operator' },
  'POST /admin/push/dead-letters/redrive': {
    path: () => '/admin/push/dead-letters/redrive',
    by: 'operator',
    body: (world) => ({ topic: world.topic.name }),
  },
  'GET /admin/retention/plan': { path: () => '/admin/retention/plan', by: 'operator' },
  'POST /admin/retention/run': {
    path: () => '/admin/retention/run',
    by: 'operator',
    body: () => ({ up_to: '2020-01-01T00:00:00Z' }),
  },
  'POST /admin/retention/confirm': {
    path: () => '/admin/retention/confirm',
    by: 'operator',
    body: () => ({ up_to: '2020-01-01T00:00:00Z' }),
  },
  'GET /admin/retention/history': { path: () => '/admin/retention/history', by: 'operator' },
  'POST /admin/retention/pause': {
    path: () => '/admin/retention/pause',
    by: 'operator',
    body: () => ({ reason: 'a test' }),
  },
  'GET /admin/holds': { path: () => '/admin/holds', by: 'operator' },
  'GET /admin/topics/{name}/held': { path: (world) => `/admin/topics/${world.topic.name}/held`, by: 'operator' },
  'PUT /admin/users/{email}/tier': {
    path: (world) => `/admin/users/${world.owner.email}/tier`,
    by: 'operator',
    body: () => ({ tier: 'FREE' }),
  },
};
