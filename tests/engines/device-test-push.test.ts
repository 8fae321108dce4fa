import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { devices } from '@tocsin/shared/collections/devices-collection.ts';
import { useStack, type Person } from '../support/use-stack.ts';
import { useStore } from '../support/use-store.ts';

const stack = useStack();
const store = useStore();
const register = async (person: Person, platform: string): Promise<{ id: string }> =>
  (await person.post('/api/devices/register', { push_token: `token-${randomUUID()}`, platform, device_id: 'phone' }))
    .body;

test("refuses a test push to an inactive device and returns 404 for another account's device", async () => {
  const [person, other] = [await stack.person(), await stack.person()];
  const { id } = await register(person, 'expo');
  expect(await other.post(`/api/devices/${id}/test`)).toMatchObject({
    status: 404,
    body: { detail: 'Device not found' },
  });
  await store.documents().update(devices, { id, version: 1 }, { isActive: false });
  expect(await person.post(`/api/devices/${id}/test`)).toMatchObject({
    status: 400,
    body: { detail: 'Device is inactive' },
  });
  expect((await stack.caller().post(`/api/devices/${id}/test`)).status).toBe(401);
});
