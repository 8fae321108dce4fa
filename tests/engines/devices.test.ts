import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { devices } from '@tocsin/shared/collections/devices-collection.ts';
import { useStack, type Person } from '../support/use-stack.ts';
import { useStore } from '../support/use-store.ts';

const stack = useStack();
const store = useStore();
const fields = (over: object = {}) => ({
  push_token: `token-${randomUUID()}`,
  platform: 'ios',
  device_id: `phone-${randomUUID()}`,
  device_name: 'My phone',
  app_version: '1.2.3',
  ...over,
});
const register = async (person: Person, over: object = {}) =>
  (await person.post('/api/devices/register', fields(over))).body;

test('registering a device again updates it, keeps its ID and activates it', async () => {
  const person = await stack.person();
  const first = await register(person);
  await store.documents().update(devices, { id: first.id, version: 1 }, { isActive: false });
  const again = await person.post('/api/devices/register', {
    push_token: 'new-' + first.push_token,
    platform: 'android',
    device_id: first.device_id,
  });
  expect(again).toMatchObject({
    status: 201,
    body: { id: first.id, created_at: first.created_at, platform: 'android', is_active: true, device_name: null },
  });
  expect((await person.get('/api/devices/my')).body).toEqual([again.body]);
});

test('a PUT keeps omitted fields, and a new push token activates the device', async () => {
  const person = await stack.person();
  const device = await register(person);
  const put = (body: object) => person.put(`/api/devices/${device.id}`, body);
  expect(await put({ device_name: 'Renamed', app_version: null })).toMatchObject({
    status: 200,
    body: { device_name: 'Renamed', app_version: '1.2.3', push_token: device.push_token },
  });
  const { version } = (await store.documents().get(devices, device.id))!;
  await store.documents().update(devices, { id: device.id, version }, { isActive: false });
  expect((await put({ push_token: device.push_token })).body.is_active).toBe(false);
  const other = await register(person);
  expect((await put({ push_token: other.push_token })).body).toMatchObject({
    id: device.id,
    push_token: other.push_token,
    is_active: true,
  });
  expect((await person.get('/api/devices/my')).body.length).toBe(1);
  expect(await put({ push_token: '' })).toMatchObject({
    status: 422,
    body: { detail: 'push_token: must be 1 to 4096 characters' },
  });
});
