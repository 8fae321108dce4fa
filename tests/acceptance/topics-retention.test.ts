import { expect, test } from '@jest/globals';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { createTopic } from '../support/stack.ts';
import { useStack } from '../support/use-stack.ts';

const stack = useStack();
const dayMs = 86_400_000;

const daysOf = ({ expires_at: end, timestamp }: { expires_at: string; timestamp: string }): number =>
  (Date.parse(end) - Date.parse(timestamp)) / dayMs;

test('a topic keeps messages for its retention_days, and a change also applies to stored messages', async () => {
  const owner = await stack.person({ tier: 'TEAM' });
  const topic = await createTopic(owner, { retention_days: 10 });
  expect((await owner.get(`/api/topics/${topic.name}`)).body.retention_days).toBe(10);
  expect(daysOf((await owner.publish(topic.name)).body)).toBe(10);
  const patch = (retentionDays: number | null) =>
    owner.patch(`/api/topics/${topic.id}`, { retention_days: retentionDays });
  const stored = async () => {
    const history = await owner.get(`/${topic.name}/json?since=all`);
    const log = await owner.get(`/api/topics/${topic.name}/log`);
    const found = await owner.get(`/api/topics/${topic.name}/messages`);
    return [history.body.messages[0], log.body.records[0].message, found.body.messages[0]].map(daysOf);
  };
  for (const days of [2, 90, 1]) {
    expect(await patch(days)).toMatchObject({ status: 200, body: { retention_days: days } });
    // The job updates messages that were being stored during the change.
    await eventually(async () => expect(await stored()).toEqual([days, days, days]));
    expect(daysOf((await owner.publish(topic.name)).body)).toBe(days);
  }
  const without = await patch(null);
  expect(without.status).toBe(200);
  expect(without.body).not.toHaveProperty('retention_days');
  await eventually(async () => expect(await stored()).toEqual([90, 90, 90]));
  expect((await owner.patch(`/api/topics/${topic.id}`, { description: 'x' })).body).not.toHaveProperty(
    'retention_days',
  );
});

test("retention_days is a whole number from 1 to the limit of the owner's tier", async () => {
  const owner = await stack.person();
  const topic = await createTopic(owner);
  expect((await owner.get(`/api/topics/${topic.name}`)).body).not.toHaveProperty('retention_days');
  const tooMany = {
    status: 422,
    body: { detail: "retention_days: must be at most 7, which is what the FREE tier of the topic's owner grants" },
  };
  expect(await owner.patch(`/api/topics/${topic.id}`, { retention_days: 8 })).toMatchObject(tooMany);
  expect(await owner.post('/api/topics', { name: `${topic.name}-2`, retention_days: 8 })).toMatchObject(tooMany);
  for (const wrong of [0, -1, 1.5, '3', true]) {
    expect(await owner.patch(`/api/topics/${topic.id}`, { retention_days: wrong })).toMatchObject({
      status: 422,
      body: { detail: expect.stringMatching(/^retention_days: /) },
    });
  }
  expect(await owner.patch(`/api/topics/${topic.id}`, { retention_days: 7, access_level: 'private' })).toMatchObject({
    status: 200,
    body: { retention_days: 7, access_level: 'private' },
  });
  const made = await owner.post('/api/topics', { name: `${topic.name}-2`, retention_days: null });
  expect(made.status).toBe(201);
  expect(made.body).not.toHaveProperty('retention_days');
});
