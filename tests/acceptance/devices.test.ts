import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { useStack, type Person } from '../support/use-stack.ts';

const stack = useStack();
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

test('shows a registered device to its owner', async () => {
  const person = await stack.person();
  const sent = fields();
  const { status, body } = await person.post('/api/devices/register', sent);
  expect(status).toBe(201);
  expect(body).toEqual({
    id: expect.any(String),
    user_id: person.id,
    ...sent,
    is_active: true,
    created_at: expect.any(String),
    last_seen: expect.any(String),
    last_test: null,
  });
  expect(await person.get(`/api/devices/${body.id}`)).toMatchObject({ status: 200, body });
  const second = await register(person, { platform: 'expo', device_name: null, app_version: undefined });
  expect(second).toMatchObject({ platform: 'expo', device_name: null, app_version: null });
  expect((await person.get('/api/devices/my')).body).toEqual([second, body]);
});

test('a push token belongs to one device: registering it elsewhere removes the previous device', async () => {
  const [one, two] = [await stack.person(), await stack.person()];
  const first = await register(one);
  const moved = await register(two, { push_token: first.push_token, device_id: first.device_id });
  expect(moved.id).not.toBe(first.id);
  expect((await one.get('/api/devices/my')).body).toEqual([]);
  const own = await register(two, { push_token: first.push_token });
  expect((await two.get('/api/devices/my')).body).toEqual([own]);
  expect((await one.get(`/api/devices/${first.id}`)).status).toBe(404);
});

test('concurrent registrations of a token by two accounts leave it with one', async () => {
  const people = await Promise.all(Array.from({ length: 6 }, () => stack.person()));
  const push_token = `token-${randomUUID()}`;
  const answers = await Promise.all(
    people.map(({ client }, node) =>
      client.call('POST', '/api/devices/register', { json: fields({ push_token }), node }),
    ),
  );
  expect(answers.map((answer) => answer.status)).toEqual(people.map(() => 201));
  const left = (await Promise.all(people.map(async (person) => (await person.get('/api/devices/my')).body))).flat();
  expect(left).toMatchObject([{ push_token }]);
});

test('concurrent registrations of one device create one device', async () => {
  const person = await stack.person();
  const same = fields();
  const answers = await Promise.all(Array.from({ length: 8 }, () => person.post('/api/devices/register', same)));
  expect(new Set(answers.map((answer) => answer.body.id)).size).toBe(1);
});

test("returns 404 for a deleted device and for another account's device", async () => {
  const [person, other] = [await stack.person(), await stack.person()];
  const { id } = await register(person);
  for (const refused of [
    await other.get(`/api/devices/${id}`),
    await other.put(`/api/devices/${id}`, {}),
    await other.delete(`/api/devices/${id}`),
  ]) {
    expect(refused).toMatchObject({ status: 404, body: { detail: 'Device not found' } });
  }
  expect((await person.delete(`/api/devices/${id}`)).status).toBe(204);
  expect(await person.delete(`/api/devices/${id}`)).toMatchObject({
    status: 404,
    body: { detail: 'Device not found' },
  });
  expect(await person.get('/api/devices/phone-1')).toMatchObject({
    status: 422,
    body: { detail: 'device_id: must be a UUID' },
  });
  expect((await stack.caller().get('/api/devices/my')).status).toBe(401);
});

test.each([
  [{ push_token: undefined }, 'push_token: is required'],
  [{ push_token: 'x'.repeat(4_097) }, 'push_token: must be 1 to 4096 characters'],
  [{ platform: 'symbian' }, 'platform: must be one of ios, android, expo, web'],
  [{ device_id: '' }, 'device_id: must be 1 to 128 characters'],
  [{ device_id: 'x'.repeat(129) }, 'device_id: must be 1 to 128 characters'],
  [{ device_name: 'x'.repeat(101) }, 'device_name: must be at most 100 characters'],
  [{ app_version: 'x'.repeat(51) }, 'app_version: must be at most 50 characters'],
])('refuses a device with %j', async (over, detail) => {
  const person = await stack.person();
  expect(await person.post('/api/devices/register', fields(over))).toMatchObject({ status: 422, body: { detail } });
});

test('an account has at most 100 devices, and existing ones can still be updated', async () => {
  const person = await stack.person();
  const make = (count: number) =>
    Promise.all(Array.from({ length: count }, () => person.post('/api/devices/register', fields())));
  // Sequential up to the last places: concurrent registrations wait for each other.
  for (let made = 0; made < 90; made += 1) await make(1);
  const last = await make(20);
  expect(last.filter((answer) => answer.status === 201).length).toBe(10);
  expect(last.find((answer) => answer.status !== 201)).toMatchObject({
    status: 403,
    body: { detail: 'Device limit reached' },
  });
  const known = last.find((answer) => answer.status === 201)!.body;
  expect((await person.post('/api/devices/register', fields({ device_id: known.device_id }))).status).toBe(201);
  expect((await person.post('/api/devices/register', fields({ push_token: known.push_token }))).status).toBe(403);
  const { push_token } = (await person.get('/api/devices/my')).body[0];
  expect((await person.post('/api/devices/register', fields({ push_token }))).status).toBe(201);
});
