import { expect, test } from '@jest/globals';
import { made } from '../support/stack.ts';
import { newRegistration } from '../support/registration.ts';
import { useStack } from '../support/use-stack.ts';

const stack = useStack();
const limited = { status: 429, body: { detail: 'Rate limit exceeded' } };

test('an account changes its email at most ten times per hour; refused changes do not count', async () => {
  const [person, other] = [await stack.person(), await stack.person()];
  const change = (email: string) => person.patch('/api/users/me', { email });
  expect(await change(other.email)).toMatchObject({ status: 409 });
  for (let count = 0; count < 10; count += 1) await made(change(newRegistration().email));
  const refused = await change(newRegistration().email);
  expect(refused).toMatchObject(limited);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(3_000);
  await made(person.patch('/api/users/me', { username: newRegistration().username }));
});

test('an account sends at most 60 invite emails per hour', async () => {
  const owner = await stack.person({ tier: 'TEAM' });
  const team = await made(owner.post('/api/teams', { name: newRegistration().username, display_name: 'A team' }));
  const invite = await made(
    owner.post(`/api/teams/${team.id}/invites`, { email: newRegistration().email, role: 'member' }),
  );
  for (let count = 1; count < 60; count += 1) await made(owner.post(`/api/teams/invites/${invite.id}/resend`));
  expect(await owner.post(`/api/teams/invites/${invite.id}/resend`)).toMatchObject(limited);
  expect(
    await owner.post(`/api/teams/${team.id}/invites`, { email: newRegistration().email, role: 'member' }),
  ).toMatchObject(limited);
});
