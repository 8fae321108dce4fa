import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { useStack, type Person } from '../support/use-stack.ts';

const stack = useStack();
const register = async (person: Person, platform: string): Promise<{ id: string }> =>
  (await person.post('/api/devices/register', { push_token: `token-${randomUUID()}`, platform, device_id: 'phone' }))
    .body;

test('a test push responds once it is queued', async () => {
  const person = await stack.person();
  const { id } = await register(person, 'expo');
  expect(await person.post(`/api/devices/${id}/test`)).toMatchObject({
    status: 200,
    body: { message: 'Test push queued', device_id: id },
  });
});

test('the device shows its last test push with the response of the provider', async () => {
  const person = await stack.person();
  const { id } = await register(person, 'expo');
  const device = async () => (await person.get(`/api/devices/${id}`)).body;
  const before = await device();
  expect(before.last_test).toBeNull();
  expect((await person.post(`/api/devices/${id}/test`)).status).toBe(200);
  // Expo rejects this token, or is unreachable: then the server retries.
  await eventually(async () =>
    expect(await device()).toMatchObject({
      last_test: {
        requested_at: expect.any(String),
        status: expect.stringMatching(/^(queued|failed|dead_token)$/),
        reason: expect.stringMatching(/Expo/),
        updated_at: expect.any(String),
      },
    }),
  );
  expect((await person.get('/api/devices/my')).body[0].last_test.requested_at).toBe(
    (await device()).last_test.requested_at,
  );
});

test('reports a platform without credentials', async () => {
  for (const [platform, detail] of [
    ['ios', 'APNs is not configured'],
    ['android', 'FCM is not configured'],
  ] as const) {
    const person = await stack.person();
    const { id } = await register(person, platform);
    expect(await person.post(`/api/devices/${id}/test`)).toMatchObject({ status: 503, body: { detail } });
    expect((await person.get(`/api/devices/${id}`)).body.last_test).toBeNull();
  }
});
