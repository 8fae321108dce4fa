import { expect, test } from '@jest/globals';
import { logIn, registerVerified } from '../support/registration.ts';
import { useStack } from '../support/use-stack.ts';

const stack = useStack();

test('registration records a consent, and accepting again adds one and deactivates the previous one', async () => {
  const { client } = await logIn(await registerVerified());
  const record = {
    id: expect.any(String),
    consent_type: 'tos',
    document_version: '1.0',
    accepted_at: expect.any(String),
  };
  const first = { ...record, consent_method: 'web_checkbox', is_active: true };
  expect((await client.call('GET', '/auth/consent-history')).body).toEqual({ consents: [first], total: 1 });

  const accepted = await client.call('POST', '/auth/accept-terms', {
    json: { accepted: true, consent_method: 'ios_sheet' },
  });
  expect(accepted.status).toBe(200);
  const second = { ...record, consent_method: 'ios_sheet', is_active: true };
  expect(accepted.body).toEqual({ message: expect.any(String), consent: second });
  expect((await client.call('GET', '/auth/consent-history')).body).toEqual({
    consents: [second, { ...first, is_active: false }],
    total: 2,
  });
  expect((await client.call('GET', '/auth/me')).body.terms_accepted_at).toBe(accepted.body.consent.accepted_at);
});

test('concurrent consents leave exactly one active', async () => {
  const { client } = await stack.person();
  const before = (await client.call('GET', '/auth/consent-history')).body.total as number;
  const accept = () =>
    client.call('POST', '/auth/accept-terms', { json: { accepted: true, consent_method: 'web_checkbox' } });
  const answers = await Promise.all(Array.from({ length: 6 }, accept));
  expect(answers.map(({ status }) => status)).toEqual(Array<number>(6).fill(200));
  const { consents, total } = (await client.call('GET', '/auth/consent-history')).body;
  expect(total).toBe(before + 6);
  expect(consents.filter((consent: { is_active: boolean }) => consent.is_active)).toHaveLength(1);
});

test.each([
  [{ accepted: false, consent_method: 'web_checkbox' }, 400, 'Terms must be accepted'],
  [{ accepted: 'true', consent_method: 'web_checkbox' }, 422, 'accepted: must be a boolean'],
  [{ accepted: true }, 422, 'consent_method: is required'],
  [
    { accepted: true, consent_method: 'Web Checkbox' },
    422,
    'consent_method: must be 1 to 50 lower-case letters, digits and underscores',
  ],
])('refuses %j as a consent', async (json, status, detail) => {
  const { client } = await stack.person();
  expect(await client.call('POST', '/auth/accept-terms', { json })).toMatchObject({ status, body: { detail } });
});
