import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { devices } from '@tocsin/shared/collections/devices-collection.ts';
import { useStack, type Person } from '../support/use-stack.ts';

const stack = useStack();
const register = async (person: Person, platform: string): Promise<{ id: string }> =>
  (await person.post('/api/devices/register', { push_token: `token-${randomUUID()}`, platform, device_id: 'phone' }))
    .body;

test('a test push is answered once it is queued', async () => {
  const person = await stack.person();
  const { id } = await register(person, 'expo');
  expect(await person.post(`/api/devices/${id}/test`)).toMatchObject({
    status: 200,
    body: { message: 'Test push queued', device_id: id },
  });
});

test('a platform without credentials says so', async () => {
  for (const [platform, detail] of [
    ['ios', 'APNs is not configured'],
    ['android', 'FCM is not configured'],
  ] as const) {
    const person = await stack.person();
    const { id } = await register(person, platform);
    expect(await person.post(`/api/devices/${id}/test`)).toMatchObject({ status: 503, body: { detail } });
  }
});

test("an inactive device gets none, and another account's is not found", async () => {
  const [person, other] = [await stack.person(), await stack.person()];
  const { id } = await register(person, 'expo');
  expect(await other.post(`/api/devices/${id}/test`)).toMatchObject({
    status: 404,
    body: { detail: 'Device not found' },
  });
  await stack.documents().update(devices, { id, version: 1 }, { isActive: false });
  expect(await person.post(`/api/devices/${id}/test`)).toMatchObject({
    status: 400,
    body: { detail: 'Device is inactive' },
  });
  expect((await stack.caller().post(`/api/devices/${id}/test`)).status).toBe(401);
});
