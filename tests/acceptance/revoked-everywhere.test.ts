import { expect, test } from '@jest/globals';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { Client, createTopic, testStack } from '../support/stack.ts';
import { useStack, type Person } from '../support/use-stack.ts';

const stack = useStack();
const nodes = [...testStack().urls.keys()];
const operator = () => stack.operator();

async function credentialsOf(owner: Person, expires_at?: string) {
  const topic = await createTopic(owner, { access_level: 'private' });
  const key = (await owner.post('/api/keys', { name: 'k', expires_at })).body as { id: string; key: string };
  const token = (
    await owner.post(`/api/topics/${topic.name}/access-tokens`, { name: 't', permissions: ['read'], expires_at })
  ).body as { id: string; token: string };
  const statuses = (credential: string) =>
    Promise.all(
      nodes.map(async (node) => (await new Client(credential).call('GET', `/${topic.name}/json`, { node })).status),
    );
  return { topic, key, token, statuses };
}

test('every node refuses a revoked key and token within 5 seconds after having accepted them', async () => {
  const ways = [
    {
      end: (owner: Person, { key }: Awaited<ReturnType<typeof credentialsOf>>) =>
        owner.post(`/api/keys/${key.id}/revoke`),
      of: 'key',
    },
    {
      end: (owner: Person, { key }: Awaited<ReturnType<typeof credentialsOf>>) => owner.delete(`/api/keys/${key.id}`),
      of: 'key',
    },
    {
      end: (owner: Person, { topic, token }: Awaited<ReturnType<typeof credentialsOf>>) =>
        owner.delete(`/api/topics/${topic.name}/access-tokens/${token.id}`),
      of: 'token',
    },
  ] as const;
  for (const { end, of } of ways) {
    const owner = await stack.person();
    const made = await credentialsOf(owner);
    const [secret, other] = of === 'key' ? [made.key.key, made.token.token] : [made.token.token, made.key.key];
    expect([await made.statuses(secret), await made.statuses(other)]).toEqual([
      nodes.map(() => 200),
      nodes.map(() => 200),
    ]);
    await end(owner, made);
    await eventually(async () => expect(await made.statuses(secret)).toEqual(nodes.map(() => 401)), {
      timeoutMs: 5_500,
    });
    expect(await made.statuses(other)).toEqual(nodes.map(() => 200));
  }
});

test('every node refuses an expired key and token', async () => {
  const endsAt = Date.now() + 10_000; // both must be created and used on every node before, also on a busy machine
  const made = await credentialsOf(await stack.person(), new Date(endsAt).toISOString());
  for (const secret of [made.key.key, made.token.token])
    expect(await made.statuses(secret)).toEqual(nodes.map(() => 200));
  await new Promise((resolve) => setTimeout(resolve, endsAt - Date.now() + 1));
  for (const secret of [made.key.key, made.token.token])
    expect(await made.statuses(secret)).toEqual(nodes.map(() => 401));
});

test('a lowered tier applies to existing logins and keys', async () => {
  const owner = await stack.person({ tier: 'TEAM' });
  const byKey = stack.caller({ 'X-API-Key': (await owner.post('/api/keys', { name: 'k' })).body.key });
  const topic = await createTopic(owner, { access_level: 'private' });
  const { id } = (await owner.publish(topic.name)).body;
  const path = `/api/${topic.name}/messages/${id}`;
  for (const caller of [owner, byKey]) expect((await caller.patch(path, { message: 'changed' })).status).toBe(200);
  expect((await operator().put(`/admin/users/${owner.email}/tier`, { tier: 'FREE' })).status).toBe(200);
  for (const caller of [owner, byKey]) {
    for (const answer of [await caller.patch(path, { message: 'again' }), await caller.delete(path)])
      expect(answer).toMatchObject({ status: 403, body: { detail: 'Requires the ESSENTIALS tier or higher' } });
    expect(await caller.post('/api/teams', { name: `t-${topic.id.slice(0, 8)}`, display_name: 'T' })).toMatchObject({
      status: 403,
      body: { detail: 'Requires the TEAM tier or higher' },
    });
    expect(await caller.post('/api/topics', { name: `p-${topic.id}`, access_level: 'private' })).toMatchObject({
      status: 403,
      body: { detail: 'Private topic limit reached' },
    });
    expect((await caller.get('/api/topics/my')).headers.get('x-ratelimit-limit')).toBe('10');
  }
  for (const node of nodes) {
    await eventually(
      async () =>
        expect((await owner.client.call('PATCH', path, { json: { message: 'there' }, node })).status).toBe(403),
      { timeoutMs: 5_500 },
    );
  }
});
