import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { OperatorStore } from '@tocsin/shared/open-engine.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { runCommand } from '../support/run-command.ts';
import { createAccount, openStackDocuments, testStack } from '../support/stack.ts';

let store: OperatorStore;
beforeAll(async () => {
  store = await openStackDocuments();
});
afterAll(() => store.close());

/** Runs `tocsin user …` next to the running stack. */
const user = (args: readonly string[]) => runCommand(['user', ...args]);

test('a new tier applies on every node within 5 seconds', async () => {
  const account = await createAccount(store);
  const end = new Date(Date.now() + 86_400_000).toISOString();
  const set = await user(['set-tier', account.email, 'team', '--expires', end, '--additional-members', '3', '--json']);
  expect(set.code).toBe(0);
  expect(JSON.parse(set.out)).toMatchObject({
    subscription_tier: 'TEAM',
    subscription_expires_at: end,
    additional_members: 3,
  });
  for (const node of [0, 1]) {
    await eventually(
      async () => {
        const { headers } = await account.client.call('GET', '/auth/me', { node });
        expect(headers.get('x-ratelimit-limit')).toBe('100');
      },
      { timeoutMs: 5_500 },
    );
  }
  const cleared = await user(['set-tier', account.email, 'TEAM', '--expires', 'never', '--json']);
  expect(JSON.parse(cleared.out)).toMatchObject({ subscription_expires_at: null, additional_members: 3 });
});

test('a disabled account cannot be used until it is enabled', async () => {
  const account = await createAccount(store);
  expect((await user(['disable', account.email])).code).toBe(0);
  await eventually(async () => expect((await account.client.call('GET', '/auth/me')).status).toBe(401), {
    timeoutMs: 5_500,
  });
  const shown = await user(['show', account.email, '--json']);
  expect(JSON.parse(shown.out)).toMatchObject({ id: account.user.id, is_active: false });
  expect((await user(['enable', account.email])).code).toBe(0);
  await eventually(async () => expect((await account.client.call('GET', '/auth/me')).status).toBe(200), {
    timeoutMs: 5_500,
  });
});

if (testStack().engine === 'cluster')
  test('without Redis, a command shows an account without a warning, and changes one with a warning', async () => {
    const account = await createAccount(store);
    const env = { ...testStack().env, REDIS_URL: 'redis://127.0.0.1:9' };
    expect(await runCommand(['user', 'show', account.email], '', env)).toMatchObject({ code: 0, error: '' });
    const { code, out, error } = await runCommand(['user', 'disable', account.email, '--json'], '', env);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ id: account.user.id, is_active: false });
    expect(error).toContain('Could not notify the running nodes: they reload within 5 seconds.\n');
    await eventually(async () => expect((await account.client.call('GET', '/auth/me')).status).toBe(401), {
      timeoutMs: 5_500,
    });
  });
