import { expect, test } from '@jest/globals';
import { newRegistration } from '../support/registration.ts';
import { Client, testStack } from '../support/stack.ts';
import { useStack } from '../support/use-stack.ts';

const stack = useStack();

const operator = () => new Client(testStack().env['ADMIN_TOKEN']!);
const setTier = (email: string, json: unknown) =>
  operator().call('PUT', `/admin/users/${encodeURIComponent(email)}/tier`, { json });

test('the operator sets tier, expiry and seats of an account', async () => {
  const account = await stack.person();
  const end = new Date(Date.now() + 86_400_000).toISOString();
  const { status, body } = await setTier(account.email.toUpperCase(), {
    tier: 'TEAM',
    expires_at: end,
    additional_members: 5,
  });
  expect(status).toBe(200);
  expect(body).toEqual({
    id: account.user.id,
    email: account.email,
    username: account.user.username,
    avatar_url: null,
    subscription_tier: 'TEAM',
    subscription_expires_at: end,
    is_active: true,
    is_verified: true,
    created_at: expect.any(String),
    last_login: expect.any(String),
    additional_members: 5,
  });
  const { additional_members: _, ...shown } = body;
  expect((await account.client.call('GET', '/api/users/me')).body).toEqual(shown);

  // Omitted fields keep their values.
  expect((await setTier(account.email, { tier: 'ESSENTIALS', expires_at: null })).body).toMatchObject({
    subscription_tier: 'ESSENTIALS',
    subscription_expires_at: end,
    additional_members: 5,
  });
});

test('an expired tier counts as FREE and shows its expiry until it is granted again', async () => {
  const account = await stack.person();
  const end = '2020-01-01T00:00:00.000Z';
  await setTier(account.email, { tier: 'TEAM', expires_at: end });
  const me = await account.client.call('GET', '/api/users/me');
  expect(me.body).toMatchObject({ subscription_tier: 'FREE', subscription_expires_at: end });

  expect((await setTier(account.email, { tier: 'TEAM' })).body).toMatchObject({
    subscription_tier: 'TEAM',
    subscription_expires_at: null,
  });
});

test('the new tier applies to rate limits immediately on the node that set it', async () => {
  const account = await stack.person();
  expect((await account.client.call('GET', '/auth/me')).headers.get('x-ratelimit-limit')).toBe('10');
  await setTier(account.email, { tier: 'TEAM' });
  expect((await account.client.call('GET', '/auth/me')).headers.get('x-ratelimit-limit')).toBe('100');
});

test('only the operator sets tiers', async () => {
  const account = await stack.person();
  const path = `/admin/users/${account.email}/tier`;
  const json = { tier: 'TEAM' };
  expect(await new Client().call('PUT', path, { json })).toMatchObject({
    status: 401,
    body: { detail: 'Not authenticated' },
  });
  expect(await account.client.call('PUT', path, { json })).toMatchObject({
    status: 401,
    body: { detail: 'Could not validate credentials' },
  });
  expect((await account.client.call('GET', '/api/users/me')).body.subscription_tier).toBe('FREE');
});

test.each([
  [{}, 'tier: is required'],
  [{ tier: 'GOLD' }, 'tier: must be one of FREE, ESSENTIALS, TEAM'],
  [{ tier: 'TEAM', expires_at: 'tomorrow' }, 'expires_at: must be a date or an RFC 3339 time'],
  ...[-1, 9_991, 1.5, '5'].map(
    (seats) =>
      [
        { tier: 'TEAM', additional_members: seats },
        'additional_members: must be a whole number from 0 to 9990',
      ] as const,
  ),
])('refuses %j', async (json, detail) => {
  const account = await stack.person();
  expect(await setTier(account.email, json)).toMatchObject({ status: 422, body: { detail } });
});

test('returns 404 for an email without account', async () => {
  expect(await setTier(newRegistration().email, { tier: 'TEAM' })).toMatchObject({
    status: 404,
    body: { detail: 'User not found' },
  });
});
