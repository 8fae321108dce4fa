import { expect, test } from '@jest/globals';
import { useStack, type Caller } from '../support/use-stack.ts';

const stack = useStack();
const operator = () => stack.operator();
const stats = async (caller: Caller) => (await caller.get('/api/teams/stats')).body;

test('the stats show the seats of the owner and the limits of the tier', async () => {
  const owner = await stack.person({ tier: 'TEAM' });
  expect(await owner.get('/api/teams/stats')).toMatchObject({
    status: 200,
    body: {
      base_members: 10,
      additional_members: 0,
      used_members: 0,
      total_members: 10,
      available_members: 10,
      percentage_used: 0,
      daily_message_limit: 50_000,
      message_retention_days: 90,
    },
  });
  await stack.team(owner, [
    [await stack.person(), 'admin'],
    [await stack.person(), 'member'],
  ]);
  expect(await stats(owner)).toMatchObject({ used_members: 3, available_members: 7, percentage_used: 30 });
  expect(
    (await operator().put(`/admin/users/${owner.email}/tier`, { tier: 'TEAM', additional_members: 5 })).status,
  ).toBe(200);
  expect(await stats(owner)).toEqual({
    base_members: 10,
    additional_members: 5,
    used_members: 3,
    total_members: 15,
    available_members: 12,
    percentage_used: 20,
    daily_message_limit: 50_000,
    message_retention_days: 90,
  });
});

test('a caller below TEAM sees the limits of its own tier', async () => {
  expect(await stats(await stack.person())).toMatchObject({
    daily_message_limit: 1_000,
    message_retention_days: 7,
    used_members: 0,
    total_members: 10,
  });
  expect(await stats(await stack.person({ tier: 'ESSENTIALS' }))).toMatchObject({
    daily_message_limit: 15_000,
    message_retention_days: 30,
  });
  const lapsed = await stack.person({ tier: 'TEAM', tierExpiresAt: Date.now() - 1_000 });
  expect(await stats(lapsed)).toMatchObject({ daily_message_limit: 1_000, message_retention_days: 7 });
  expect((await stack.caller().get('/api/teams/stats')).status).toBe(401);
});
