import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { findTraces } from '../support/find-traces.ts';
import { mailedLink } from '../support/mailbox.ts';
import { newRegistration, register } from '../support/registration.ts';
import { createTopic, testStack } from '../support/stack.ts';
import { useStack } from '../support/use-stack.ts';

const stack = useStack();

test('a copy of the stores contains no usable password, token, key, session or emailed link', async () => {
  const registration = newRegistration({ password: randomUUID() });
  await register(registration);
  const owner = await stack.person({ tier: 'TEAM' });
  const topic = await createTopic(owner, { access_level: 'private' });
  const team = await stack.team(owner);
  const invited = newRegistration().email;
  await owner.post(`/api/teams/${team}/invites`, { email: invited, role: 'member' });
  await stack.caller().post('/auth/password-reset/request', { email: owner.email });
  const login = (await stack.caller().post('/auth/login', { email: owner.email, password: owner.password })).body;
  const ofHash = async (email: string, kind: 'password-reset' | 'team-invite') =>
    (await mailedLink(email, kind)).hash.slice('#token='.length);
  const secrets: Record<string, string> = {
    'password of a registration': registration.password,
    'verification token': (await mailedLink(registration.email, 'verify-email')).searchParams.get('token')!,
    'reset token': await ofHash(owner.email, 'password-reset'),
    'invite token': await ofHash(invited, 'team-invite'),
    'access token': login.access_token,
    'refresh token': login.refresh_token,
    'API key': (await owner.post('/api/keys', { name: 'k' })).body.key,
    'topic token': (await owner.post(`/api/topics/${topic.name}/access-tokens`, { name: 't', permissions: ['read'] }))
      .body.token,
    session: (await owner.post('/api/sse/sessions', { topics: [topic.name] })).body.session_id,
  };
  for (const [what, secret] of Object.entries(secrets))
    expect({ what, isSecret: secret.length > 10 }).toEqual({ what, isSecret: true });
  // Its second half alone would suffice to guess the rest.
  const halves = Object.entries(secrets).map(([what, secret]) => [what, secret.slice(secret.length / 2)] as const);
  const found = await findTraces(testStack(), [registration.email, ...halves.map(([, half]) => half)]);
  for (const [what, half] of halves) expect({ what, places: found.get(half) }).toEqual({ what, places: [] });
  // The search covers the stores: it finds existing data.
  expect(found.get(registration.email)).not.toEqual([]);
});
