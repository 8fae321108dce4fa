import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { createTopic } from '../support/stack.ts';
import { useStack, type Person } from '../support/use-stack.ts';

const stack = useStack();
const noCounts = { pending: 0, sent: 0, skipped: 0, retrying: 0, dead_token: 0, failed: 0 };

async function registerDevice(person: Person, platform = 'ios'): Promise<string> {
  const { status, body } = await person.post('/api/devices/register', {
    push_token: randomUUID(),
    platform,
    device_id: randomUUID(),
  });
  expect(status).toBe(201);
  return body.id;
}

const subscribe = async (person: Person, topic_name: string, mobile_notification_settings: object = {}) =>
  expect((await person.post('/api/subscriptions', { topic_name, mobile_notification_settings })).status).toBe(201);

const entry = (device_id: string, given: object) => ({
  device_id,
  platform: 'ios',
  attempts: 0,
  updated_at: expect.any(String),
  ...given,
});

test("shows the reason for a missing push only to the device's owner, and totals to the topic's managers", async () => {
  const [owner, reader, filtered, stranger] = [
    await stack.person(),
    await stack.person(),
    await stack.person(),
    await stack.person(),
  ];
  const topic = await createTopic(owner);
  const [phone, tablet, other] = [
    await registerDevice(reader),
    await registerDevice(reader),
    await registerDevice(filtered),
  ];
  await subscribe(reader, topic.name);
  await subscribe(filtered, topic.name, { priority_threshold: 4 });
  const { id } = (await owner.publish(topic.name)).body;
  const deliveries = (caller: Pick<Person, 'get'>) => caller.get(`/api/messages/${id}/deliveries`);

  // APNs is not configured here.
  const skipped = { status: 'skipped', reason: 'not configured' };
  await eventually(async () =>
    expect(await deliveries(reader)).toMatchObject({
      status: 200,
      body: { message_id: id, counts: null, deliveries: [entry(tablet, skipped), entry(phone, skipped)] },
    }),
  );
  expect((await deliveries(filtered)).body.deliveries).toEqual([
    entry(other, { status: 'skipped', reason: 'priority 3 is below the threshold of 4' }),
  ]);
  expect((await deliveries(stranger)).body).toEqual({ message_id: id, deliveries: [], counts: null, pages: [] });
  expect((await deliveries(owner)).body).toEqual({
    message_id: id,
    deliveries: [],
    counts: { ...noCounts, skipped: 2 },
    pages: [],
  });

  // A deleted device keeps its row.
  expect((await reader.delete(`/api/devices/${tablet}`)).status).toBe(204);
  expect((await deliveries(reader)).body.deliveries).toEqual([entry(phone, skipped), entry(tablet, skipped)]);
});

test('team admins manage a topic, members do not', async () => {
  const [owner, admin, member] = [await stack.person({ tier: 'TEAM' }), await stack.person(), await stack.person()];
  const team_id = await stack.team(owner, [
    [admin, 'admin'],
    [member, 'member'],
  ]);
  const topic = await createTopic(owner, { team_id, access_level: 'private' });
  const { id } = (await owner.publish(topic.name)).body;
  expect((await admin.get(`/api/messages/${id}/deliveries`)).body.counts).toEqual(noCounts);
  expect((await member.get(`/api/messages/${id}/deliveries`)).body.counts).toBeNull();
});

test('returns 404 for the deliveries of a message that the caller may not read', async () => {
  const [owner, stranger] = [await stack.person({ tier: 'ESSENTIALS' }), await stack.person()];
  const topic = await createTopic(owner, { access_level: 'private' });
  const { id } = (await owner.publish(topic.name)).body;
  const path = `/api/messages/${id}/deliveries`;
  const notFound = { status: 404, body: { detail: 'Message not found' } };
  expect(await stranger.get(path)).toMatchObject(notFound);
  expect(await owner.get(`/api/messages/${randomUUID()}/deliveries`)).toMatchObject(notFound);
  expect(await stack.caller().get(path)).toMatchObject({ status: 401 });
  const { token } = (await owner.post(`/api/topics/${topic.name}/access-tokens`, { name: 't', permissions: ['read'] }))
    .body;
  expect(await stack.caller({ 'X-Topic-Token': token }).get(path)).toMatchObject({ status: 403 });
  expect((await owner.get(path)).status).toBe(200);
});
