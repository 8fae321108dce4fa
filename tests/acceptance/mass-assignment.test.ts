import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from '@jest/globals';
import { Client, createTopic, testStack, type Answer } from '../support/stack.ts';
import { useStack } from '../support/use-stack.ts';
import { fixtures, makeWorld, snapshotOf, type Fixture, type World } from '../support/world.ts';

const stack = useStack();

/** Two worlds that get the same requests; one of them gets extra fields in each body that callers may not set. */
let plain: World;
let loaded: World;
beforeAll(async () => {
  [plain, loaded] = [await makeWorld(stack), await makeWorld(stack)];
});

const intruder = randomUUID();
const past = '2001-02-03T04:05:06.789Z';

/** Fields that no body may set, under all their names in responses and stores. */
const more: Readonly<Record<string, unknown>> = {
  id: intruder,
  _id: intruder,
  user_id: intruder,
  userId: intruder,
  owner_id: intruder,
  ownerId: intruder,
  topic_id: intruder,
  topicId: intruder,
  invited_by_id: intruder,
  created_at: past,
  createdAt: past,
  updated_at: past,
  last_login: past,
  last_message_at: past,
  deleted_at: past,
  edited_at: past,
  joined_at: past,
  last_used_at: past,
  last_viewed_at: past,
  terms_accepted_at: past,
  subscription_expires_at: past,
  tierExpiresAt: 1,
  message_count: 987_654,
  subscriber_count: 987_654,
  request_count: 987_654,
  unread_count: 987_654,
  member_count: 987_654,
  additional_members: 987_654,
  additionalMembers: 987_654,
  version: 987_654,
  __v: 987_654,
  subscription_tier: 'ESSENTIALS',
  tier: 'ESSENTIALS',
  role: 'owner',
  my_role: 'owner',
  permissions: ['read', 'write'],
  scopes: ['*'],
  can_manage: false,
  is_active: false,
  isActive: false,
  is_verified: false,
  isVerified: false,
  is_deleted: true,
  is_edited: true,
  is_expired: true,
  is_valid: false,
  password: 'another password',
  password_hash: 'x',
  passwordHash: 'x',
  key: 'toc_chosen',
  token: 'tk_chosen',
  key_prefix: 'toc_chosen',
  push_token_hash: 'x',
  oauth_provider: 'google',
};

/** The body with extra fields: protected fields and names that reach an object's prototype. */
function loadedText(body: Readonly<Record<string, unknown>>, isOperator: boolean): string {
  // The operator may set the seats.
  const fields = JSON.stringify({ ...more, ...(isOperator ? { additional_members: undefined } : {}), ...body });
  const polluted = JSON.stringify({
    polluted: true,
    limit: 1,
    is_active: false,
    isActive: false,
    tier: 'ESSENTIALS',
    toJSON: 1,
  });
  return `${fields.slice(0, -1)},"__proto__":${polluted},"constructor":{"prototype":${polluted}}}`;
}

/**
 * Operations that end logins or remove the objects of other checks and store nothing of the body, or that affect the
 * whole installation, which other files use meanwhile.
 */
const notHere = new Set([
  'POST /auth/password-change',
  'DELETE /api/users/me',
  'POST /admin/retention/run',
  'POST /admin/retention/confirm',
  'POST /admin/retention/pause',
]);
const writing = Object.entries(fixtures).filter(([name, { body }]) => body !== undefined && !notHere.has(name));

/** A valid body; subscriptions use a topic without subscription. */
async function bodyIn(world: World, name: string): Promise<Record<string, unknown>> {
  const body = fixtures[name]!.body!(world);
  return name === 'POST /api/subscriptions' ? { ...body, topic_name: (await createTopic(world.owner)).name } : body;
}

function send(world: World, [name, fixture]: readonly [string, Fixture], text: string): Promise<Answer> {
  const by = { owner: world.owner.client.token, operator: testStack().env['ADMIN_TOKEN'], nobody: undefined }[
    fixture.by ?? 'owner'
  ];
  return new Client(by).call(name.split(' ')[0]!, fixture.path(world), {
    text,
    headers: { 'Content-Type': 'application/json' },
  });
}

/** Values that differ between two worlds after the same requests: generated names and IDs, times and offsets. */
function withoutChance(value: unknown): unknown {
  const text = JSON.stringify(value, (key, one: unknown) =>
    ['offset', 'next_offset', 'head', 'earliest_offset', 'lag', 'lease'].includes(key) && one !== null
      ? 'a place'
      : one,
  );
  return JSON.parse(
    text
      .replaceAll(/\b(toc|tk|ss|rt)_[\w.-]+|\bwhsec_[\w+/=]+/g, 'a secret')
      .replaceAll(/eyJ[\w.-]+/g, 'a token')
      .replaceAll(intruder, 'THE INTRUDER')
      .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'an id')
      .replaceAll(/\b(user-|u-|t-)?[0-9a-f]{8,12}\b/g, 'a name')
      .replaceAll(/20(?!01)\d\d-\d\d-\d\dT[\d:.]+Z/g, 'a time'),
  );
}

test.each(writing)('%s ignores fields that callers may not set', async (name, fixture) => {
  const [one, two] = [await bodyIn(plain, name), await bodyIn(loaded, name)];
  const without = await send(plain, [name, fixture], JSON.stringify(one));
  const withMore = await send(loaded, [name, fixture], loadedText(two, fixture.by === 'operator'));
  expect({ status: withMore.status, body: withoutChance(withMore.body) }).toEqual({
    status: without.status,
    body: withoutChance(without.body),
  });
  expect(withoutChance(await snapshotOf(loaded))).toEqual(withoutChance(await snapshotOf(plain)));
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
});
