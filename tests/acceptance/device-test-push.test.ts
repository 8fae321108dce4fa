import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
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

test('reports a platform without credentials', async () => {
  for (const [platform, detail] of [
    ['ios', 'APNs is not configured'],
    ['android', 'FCM is not configured'],
  ] as const) {
    const person = await stack.person();
    const { id } = await register(person, platform);
    expect(await person.post(`/api/devices/${id}/test`)).toMatchObject({ status: 503, body: { detail } });
  }
});
