import { expect, test } from '@jest/globals';
import { newRegistration } from '../support/registration.ts';
import { Client } from '../support/stack.ts';
import { useAuditLog } from '../support/use-audit-log.ts';
import { useStack } from '../support/use-stack.ts';

const stack = useStack();
const { adminToken, logOf } = useAuditLog(stack);

test('records at most ten refused logins per minute and address, and marks the tenth', async () => {
  const attacker = new Client();
  const victims = await Promise.all([1, 2, 3].map(() => stack.person()));
  for (const { email } of victims) {
    await Promise.all(
      Array.from({ length: 5 }, () => attacker.call('POST', '/auth/login', { json: { email, password: 'wrong' } })),
    );
  }
  const recorded = (await Promise.all(victims.map(({ id }) => logOf({ subject: id, action: 'login.failed' })))).flat();
  expect(recorded.map(({ details }) => details.further_unrecorded).sort()).toEqual([
    ...Array.from({ length: 9 }, () => false),
    true,
  ]);
});

test('records at most ten wrong operator tokens per minute and address, and no requests without a token', async () => {
  const stranger = new Client();
  const recorded = async () =>
    (await logOf({ actor: 'anonymous', action: 'operator.refused', limit: '1000' })).filter(
      ({ origin }) => origin.address === stranger.address,
    );
  expect((await stranger.call('GET', '/admin/audit')).status).toBe(401);
  expect(await recorded()).toEqual([]);
  const answers = await Promise.all(
    Array.from({ length: 15 }, (_, n) => stranger.call('GET', '/admin/audit', { token: `${adminToken}${n}` })),
  );
  expect(answers.map(({ status }) => status)).toEqual(Array(15).fill(401));
  expect((await recorded()).map(({ details }) => details.further_unrecorded).sort()).toEqual([
    ...Array.from({ length: 9 }, () => false),
    true,
  ]);
  expect((await recorded())[0]).toMatchObject({
    actor: { type: 'anonymous', through: 'nothing' },
    origin: { user_agent: 'node' },
    subject: null,
    within: null,
  });
});

test('records a login attempt with an unknown email without the email', async () => {
  const [stranger, email] = [new Client(), newRegistration().email];
  expect((await stranger.call('POST', '/auth/login', { json: { email, password: 'wrong' } })).status).toBe(401);
  const found = (await logOf({ actor: 'anonymous', action: 'login.failed', limit: '1000' })).filter(
    ({ origin }) => origin.address === stranger.address,
  );
  expect(found).toMatchObject([{ subject: { type: 'account', name: null }, details: { reason: 'unknown_person' } }]);
  expect(JSON.stringify(found)).not.toContain(email);
});
