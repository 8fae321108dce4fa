import { randomUUID } from 'node:crypto';
import type { OperatorStore } from '@tocsin/shared/open-engine.ts';
import { teamMembers } from '@tocsin/shared/collections/teams.ts';
import type { Values } from '../../tools/schemathesis/schemathesis-config.ts';
import type { Stack } from '../../tools/stack/start-stack.ts';
import { createAccount, createTopic, type Account, type Answer } from '../support/stack.ts';

/** Every kind of credential. */
export const credentialKinds = [
  'no credential',
  'a login (FREE)',
  'a login (TEAM)',
  'an API key with few scopes',
  'a topic token',
  'ADMIN_TOKEN',
] as const;
export type CredentialKind = (typeof credentialKinds)[number];

/** One related object of every kind that a path can name. */
export interface Things {
  readonly topicId: string;
  /** By path parameter. */
  readonly byParameter: Values<string>;
}

export interface Arranged {
  readonly credentials: Readonly<Record<CredentialKind, Readonly<Record<string, string>>>>;
  /** Of the TEAM account. */
  readonly things: readonly Things[];
}

/** The topic in the document's examples. */
const exampleTopic = 'backups';

/** Creates two accounts, several sets of all objects that a path can name, and a credential of every kind. */
export async function arrangeTarget(
  stack: Stack,
  store: OperatorStore,
  wanted: { adminToken: string; things: number },
): Promise<Arranged> {
  const { urls } = stack;
  const [owner, free] = [await createAccount(store, { tier: 'TEAM', urls }), await createAccount(store, { urls })];
  await createTopic(owner, { name: exampleTopic });
  const closed = await createTopic(owner, { access_level: 'private' });
  const token = await tokenOf(owner, closed.name);
  const key = await made(owner, 'POST', '/api/keys', {
    name: 'few',
    scopes: ['subscribe', 'topics:read', 'account:read'],
  });
  return {
    credentials: {
      'no credential': {},
      'a login (FREE)': { Authorization: `Bearer ${free.client.token}` },
      'a login (TEAM)': { Authorization: `Bearer ${owner.client.token}` },
      'an API key with few scopes': { 'X-API-Key': String(key['key']) },
      'a topic token': { 'X-Topic-Token': String(token['token']) },
      ADMIN_TOKEN: { Authorization: `Bearer ${wanted.adminToken}` },
    },
    things: await Promise.all(Array.from({ length: wanted.things }, () => makeThings(store, owner, free))),
  };
}

async function makeThings(store: OperatorStore, owner: Account, member: Account): Promise<Things> {
  const topic = await createTopic(owner, { description: 'fuzzed' });
  const sequenceId = 'fuzzed';
  const message = await owner.client.call('POST', `/${topic.name}/${sequenceId}`, { text: 'fuzzed' });
  const scheduled = await made(owner, 'POST', '/', { topic: topic.name, message: 'fuzzed', delay: '1d' });
  const token = await tokenOf(owner, topic.name);
  const consumer = 'fuzzed';
  await made(owner, 'PUT', `/api/topics/${topic.name}/consumers/${consumer}`, { offset: 0 });
  const subscription = await made(owner, 'POST', '/api/subscriptions', { topic_name: topic.name });
  const key = await made(owner, 'POST', '/api/keys', { name: 'fuzzed' });
  const device = await made(owner, 'POST', '/api/devices/register', {
    push_token: randomUUID(),
    platform: 'expo',
    device_id: randomUUID(),
  });
  const team = await made(owner, 'POST', '/api/teams', {
    name: `t-${randomUUID().slice(0, 30)}`,
    display_name: 'A team',
  });
  const invite = await made(owner, 'POST', `/api/teams/${String(team['id'])}/invites`, {
    email: `${randomUUID()}@example.org`,
    role: 'member',
  });
  await store.documents.insert(teamMembers, {
    id: randomUUID(),
    teamId: String(team['id']),
    userId: member.user.id,
    role: 'member',
    joinedAt: Date.now(),
    subscribesSince: null,
  });
  const teamTopic = await createTopic(owner, { team_id: team['id'] });
  const teamSubscription = await made(owner, 'POST', `/api/teams/${String(team['id'])}/subscriptions`, {
    topic_name: teamTopic.name,
    members: 'all',
  });
  // It must not look up the host.
  const sink = await made(owner, 'POST', `/api/topics/${topic.id}/sinks`, {
    name: 'fuzzed',
    kind: 'webhook',
    url: 'https://hooks.example.com/',
  });
  await made(owner, 'PATCH', `/api/topics/${topic.id}/sinks/${String(sink['id'])}`, { state: 'paused' });
  const ids = {
    sink_id: sink['id'],
    message_id: message.body.id as unknown,
    sequence_id: sequenceId,
    scheduled_id: scheduled['id'],
    token_id: token['id'],
    subscription_id: subscription['id'],
    key_id: key['id'],
    device_id: device['id'],
    team_id: team['id'],
    invite_id: invite['id'],
    team_subscription_id: teamSubscription['id'],
  };
  return {
    topicId: topic.id,
    byParameter: {
      ...Object.fromEntries(Object.entries(ids).map(([name, id]) => [name, String(id)])),
      topic: topic.name,
      name: topic.name,
      topic_name: topic.name,
      consumer,
      user_id: member.user.id,
      email: member.email,
    },
  };
}

const tokenOf = (owner: Account, topic: string) =>
  made(owner, 'POST', `/api/topics/${topic}/access-tokens`, { name: 'fuzzed', permissions: ['read', 'write'] });

async function made(by: Account, method: string, path: string, json: object): Promise<Record<string, unknown>> {
  const { status, body } = (await by.client.call(method, path, { json })) as Answer;
  if (status >= 300) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(body)}`);
  return body as Record<string, unknown>;
}
