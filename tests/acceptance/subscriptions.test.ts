import { expect, test } from '@jest/globals';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { createTopic, newTopicName } from '../support/stack.ts';
import { useStack, type Person } from '../support/use-stack.ts';

const stack = useStack();
const defaults = {
  priority_threshold: 1,
  sound_enabled: true,
  vibrate_enabled: true,
  tags_filter: [],
  notification_sound: 'default',
  allow_critical: false,
  badge: 'unread',
  digest: 'off',
};
const subscribe = ({ client }: Person, topic_name: string, over: object = {}, node = 0) =>
  client.call('POST', '/api/subscriptions', { json: { topic_name, ...over }, node });

test('a subscription enables all notifications by default and shows its topic', async () => {
  const [owner, reader] = [await stack.person(), await stack.person()];
  const topic = await createTopic(owner, { description: 'What happens', icon_name: 'bell', icon_color: '#aabbcc' });
  const { status, body } = await subscribe(reader, topic.name.toUpperCase());
  expect(status).toBe(201);
  expect(body).toEqual({
    id: expect.any(String),
    user_id: reader.id,
    topic_id: topic.id,
    topic_name: topic.name,
    topic_description: 'What happens',
    access_level: 'PUBLIC',
    team_id: null,
    icon_name: 'bell',
    icon_color: '#aabbcc',
    created_at: expect.any(String),
    last_viewed_at: null,
    last_notified_at: null,
    topic_last_message_at: null,
    web_notifications_enabled: true,
    mobile_notifications_enabled: true,
    mobile_notification_settings: defaults,
    is_pinned: false,
    unread_count: 0,
    message_count: 0,
    subscriber_count: 1,
    team_subscription_id: null,
    mandatory: false,
    team_settings: null,
  });
  expect((await reader.get('/api/subscriptions')).body).toEqual({ subscriptions: [body], total: 1 });
  expect((await owner.get(`/api/topics/${topic.name}`)).body.subscriber_count).toBe(1);
});

test('stores the given settings and normalizes tags', async () => {
  const person = await stack.person();
  const topic = await createTopic(person);
  const { body } = await subscribe(person, topic.name, {
    web_notifications_enabled: false,
    mobile_notifications_enabled: false,
    mobile_notification_settings: {
      priority_threshold: 4,
      tags_filter: [' a ', '', 'b', 'a'],
      sound_enabled: null,
      color: 'ignored',
    },
  });
  expect(body).toMatchObject({
    web_notifications_enabled: false,
    mobile_notifications_enabled: false,
    mobile_notification_settings: { ...defaults, priority_threshold: 4, tags_filter: ['a', 'b'] },
  });
});

test('stores whether priority 5 may be critical, and the badge', async () => {
  const person = await stack.person();
  const topic = await createTopic(person);
  const made = await subscribe(person, topic.name, {
    mobile_notification_settings: { allow_critical: true, badge: null },
  });
  expect(made).toMatchObject({
    status: 201,
    body: { mobile_notification_settings: { allow_critical: true, badge: 'unread' } },
  });
  const changed = await person.patch(`/api/subscriptions/${made.body.id}`, {
    mobile_notification_settings: { badge: 'none' },
  });
  expect(changed.body.mobile_notification_settings).toMatchObject({ allow_critical: true, badge: 'none' });
  expect((await person.get('/api/subscriptions')).body.subscriptions).toEqual([changed.body]);
  expect((await person.get('/api/users/me/data')).body.subscriptions).toEqual([changed.body]);
});

test('stores the digest, whose time belongs to a daily one', async () => {
  const person = await stack.person();
  const topic = await createTopic(person);
  const made = await subscribe(person, topic.name, { mobile_notification_settings: { digest: '1d' } });
  expect(made.body.mobile_notification_settings).toEqual({ ...defaults, digest: '1d', digest_at: '08:00' });
  const patch = (mobile_notification_settings: object) =>
    person.patch(`/api/subscriptions/${made.body.id}`, { mobile_notification_settings });
  const set = { digest_at: '18:30', digest_timezone: 'Asia/Kolkata' };
  expect((await patch(set)).body.mobile_notification_settings).toEqual({ ...defaults, digest: '1d', ...set });
  expect((await patch({ digest: '15m' })).body.mobile_notification_settings).toEqual({ ...defaults, digest: '15m' });
  expect((await patch({ digest: '1d', digest_at: null })).body.mobile_notification_settings).toEqual({
    ...defaults,
    digest: '1d',
    digest_at: '08:00',
    digest_timezone: 'Asia/Kolkata',
  });
  expect((await patch({ digest: 'off' })).body.mobile_notification_settings).toEqual(defaults);
  for (const [field, wrong] of [
    ['digest', '2h'],
    ['digest', null],
    ['digest', 15],
    ['digest_at', '24:00'],
    ['digest_at', '8:00'],
    ['digest_at', 800],
    ['digest_timezone', 'Mars/Olympus'],
    ['digest_timezone', '+02:00'],
  ] as const) {
    const { status, body } = await patch({ [field]: wrong });
    expect({ wrong, status, at: String(body.detail).split(':')[0] }).toEqual({
      wrong,
      status: 422,
      at: `mobile_notification_settings.${field}`,
    });
  }
});

test('subscribing twice, also concurrently, is a conflict and counts once', async () => {
  const person = await stack.person();
  const topic = await createTopic(person);
  const answers = await Promise.all(Array.from({ length: 5 }, (_, node) => subscribe(person, topic.name, {}, node)));
  expect(answers.map((answer) => answer.status).sort()).toEqual([201, 409, 409, 409, 409]);
  expect(await subscribe(person, topic.name)).toMatchObject({ status: 409, body: { detail: 'Already subscribed' } });
  expect((await person.get(`/api/topics/${topic.name}`)).body.subscriber_count).toBe(1);
});

test('concurrent subscribing and unsubscribing keeps the count exact', async () => {
  const people = await Promise.all(Array.from({ length: 12 }, () => stack.person()));
  const topic = await createTopic(people[0]!);
  const made = await Promise.all(people.map((person, node) => subscribe(person, topic.name, {}, node)));
  expect(made.map((answer) => answer.status)).toEqual(people.map(() => 201));
  const count = async () => (await people[0]!.get(`/api/topics/${topic.name}`)).body.subscriber_count;
  expect(await count()).toBe(12);
  const gone = await Promise.all(
    people.slice(0, 5).map((person, at) => person.delete(`/api/subscriptions/${made[at]!.body.id}`)),
  );
  expect(gone.map((answer) => answer.status)).toEqual([204, 204, 204, 204, 204]);
  expect(await count()).toBe(7);
});

test('subscribing requires read access', async () => {
  const [owner, other] = [await stack.person(), await stack.person()];
  const topic = await createTopic(owner, { access_level: 'private' });
  expect((await subscribe(owner, topic.name)).body.access_level).toBe('PRIVATE');
  expect(await subscribe(other, topic.name)).toMatchObject({
    status: 403,
    body: { detail: 'Insufficient permissions to access this topic' },
  });
  expect(await subscribe(other, newTopicName())).toMatchObject({ status: 404, body: { detail: 'Topic not found' } });
  expect(await subscribe(other, 'no such/name')).toMatchObject({ status: 404 });
  expect(await other.post('/api/subscriptions', {})).toMatchObject({
    status: 422,
    body: { detail: 'topic_name: is required' },
  });
  expect((await stack.caller().post('/api/subscriptions', {})).status).toBe(401);
});

test('a PATCH merges settings, refuses null, and has no effect when empty', async () => {
  const person = await stack.person();
  const topic = await createTopic(person);
  const { id } = (await subscribe(person, topic.name)).body;
  const patch = (body: object) => person.patch(`/api/subscriptions/${id}`, body);
  expect(
    (await patch({ mobile_notification_settings: { priority_threshold: 3 }, is_pinned: true })).body,
  ).toMatchObject({ is_pinned: true, mobile_notification_settings: { ...defaults, priority_threshold: 3 } });
  const changed = await patch({
    mobile_notification_settings: { notification_sound: 'bell.wav', tags_filter: ['x'] },
    web_notifications_enabled: false,
  });
  expect(changed.body).toMatchObject({
    web_notifications_enabled: false,
    mobile_notifications_enabled: true,
    is_pinned: true,
    mobile_notification_settings: {
      ...defaults,
      priority_threshold: 3,
      notification_sound: 'bell.wav',
      tags_filter: ['x'],
    },
  });
  expect(await patch({})).toMatchObject({ status: 200, body: changed.body });
  for (const wrong of [
    { is_pinned: null },
    { web_notifications_enabled: 'no' },
    { mobile_notification_settings: null },
    { mobile_notification_settings: { sound_enabled: null } },
    { mobile_notification_settings: { priority_threshold: 0 } },
    { mobile_notification_settings: { priority_threshold: 6 } },
    { mobile_notification_settings: { priority_threshold: 1.5 } },
    { mobile_notification_settings: { notification_sound: 'a b' } },
    { mobile_notification_settings: { tags_filter: Array.from({ length: 21 }, (_, n) => `t${n}`) } },
    { mobile_notification_settings: { tags_filter: ['x'.repeat(65)] } },
    { mobile_notification_settings: { allow_critical: 'yes' } },
    { mobile_notification_settings: { allow_critical: null } },
    { mobile_notification_settings: { badge: 'all' } },
    { mobile_notification_settings: { badge: null } },
  ]) {
    expect({ wrong, status: (await patch(wrong)).status }).toEqual({ wrong, status: 422 });
  }
  expect((await patch({ mobile_notification_settings: { priority_threshold: 6 } })).body.detail).toBe(
    'mobile_notification_settings.priority_threshold: must be a whole number from 1 to 5',
  );
});

test('counts as unread the messages since the last view, or since the subscription before the first view', async () => {
  const [owner, reader] = [await stack.person(), await stack.person()];
  const topic = await createTopic(owner);
  await owner.publish(topic.name, 'before');
  const { id } = (await subscribe(reader, topic.name)).body;
  const shown = async () => (await reader.get('/api/subscriptions')).body.subscriptions[0];
  expect(await shown()).toMatchObject({ unread_count: 0, message_count: 1 });
  for (const text of ['one', 'two', 'three']) await owner.publish(topic.name, text);
  expect(await shown()).toMatchObject({
    unread_count: 3,
    message_count: 4,
    topic_last_message_at: expect.any(String),
    last_viewed_at: null,
  });
  const viewed = await reader.post(`/api/subscriptions/${id}/viewed`);
  expect(viewed).toMatchObject({ status: 200, body: { id, unread_count: 0, last_viewed_at: expect.any(String) } });
  await owner.publish(topic.name, 'four');
  expect(await shown()).toMatchObject({ unread_count: 1 });
});

test('the list is ordered by pinned first, then by latest activity', async () => {
  const person = await stack.person();
  const names: string[] = [];
  for (let made = 0; made < 4; made++) names.push((await createTopic(person)).name);
  const ids = [];
  for (const name of names) ids.push((await subscribe(person, name)).body.id);
  await person.publish(names[1]!);
  await person.patch(`/api/subscriptions/${ids[0]}`, { is_pinned: true });
  const { body } = await person.get('/api/subscriptions');
  expect(body.subscriptions.map((one: { topic_name: string }) => one.topic_name)).toEqual([
    names[0],
    names[1],
    names[3],
    names[2],
  ]);
});

test('check returns whether the caller is subscribed', async () => {
  const [owner, other] = [await stack.person(), await stack.person()];
  const topic = await createTopic(owner, { access_level: 'private' });
  await subscribe(owner, topic.name);
  expect(await owner.get(`/api/subscriptions/check/${topic.name.toUpperCase()}`)).toMatchObject({
    status: 200,
    body: { subscribed: true, topic_name: topic.name },
  });
  expect(await other.get(`/api/subscriptions/check/${topic.name}`)).toMatchObject({
    status: 200,
    body: { subscribed: false },
  });
  expect(await other.get('/api/subscriptions/check/nothing-here')).toMatchObject({
    status: 404,
    body: { detail: 'Topic not found' },
  });
});

test('unsubscribing works once, by ID or by topic, and only for own subscriptions', async () => {
  const [one, two] = [await stack.person(), await stack.person()];
  const topic = await createTopic(one);
  const { id } = (await subscribe(one, topic.name)).body;
  const notFound = { status: 404, body: { detail: 'Subscription not found' } };
  for (const refused of [
    await two.delete(`/api/subscriptions/${id}`),
    await two.patch(`/api/subscriptions/${id}`, {}),
    await two.post(`/api/subscriptions/${id}/viewed`),
  ]) {
    expect(refused).toMatchObject(notFound);
  }
  expect(await two.delete(`/api/subscriptions/by-topic/${topic.name}`)).toMatchObject(notFound);
  expect((await one.delete(`/api/subscriptions/by-topic/${topic.name}`)).status).toBe(204);
  expect(await one.delete(`/api/subscriptions/${id}`)).toMatchObject(notFound);
  expect((await one.get(`/api/topics/${topic.name}`)).body.subscriber_count).toBe(0);
  expect(await one.delete('/api/subscriptions/by-topic/nothing-here')).toMatchObject({
    status: 404,
    body: { detail: 'Topic not found' },
  });
  expect(await one.delete('/api/subscriptions/7')).toMatchObject({ status: 422 });
});

test('subscriptions of a topic that was made private or deleted leave the lists of users without access', async () => {
  const [owner, reader] = [await stack.person({ tier: 'TEAM' }), await stack.person()];
  const [closed, deleted] = [await createTopic(owner), await createTopic(owner)];
  for (const topic of [closed, deleted]) for (const person of [owner, reader]) await subscribe(person, topic.name);
  await owner.patch(`/api/topics/${closed.id}`, { access_level: 'private' });
  await owner.delete(`/api/topics/${deleted.id}`);
  expect((await reader.get('/api/subscriptions')).body).toEqual({ subscriptions: [], total: 0 });
  expect((await owner.get('/api/subscriptions')).body.subscriptions).toMatchObject([
    { topic_id: closed.id, subscriber_count: 1 },
  ]);
  expect((await reader.get(`/api/subscriptions/check/${closed.name}`)).body.subscribed).toBe(false);
  await owner.patch(`/api/topics/${closed.id}`, { access_level: 'public' });
  expect((await reader.get('/api/subscriptions')).body.total).toBe(0);
});

test("a member subscribes to the team's private topics by login and sees the subscriptions by key", async () => {
  const [owner, member] = [await stack.person({ tier: 'TEAM' }), await stack.person()];
  const team_id = await stack.team(owner, [[member, 'member']]);
  const topic = await createTopic(owner, { access_level: 'private', team_id });
  expect((await subscribe(member, topic.name)).body).toMatchObject({ team_id, access_level: 'PRIVATE' });
  const { key } = (await member.post('/api/keys', { name: 'k' })).body;
  const byKey = stack.caller({ 'X-API-Key': key });
  expect((await byKey.get('/api/subscriptions')).body.total).toBe(1);
  expect((await byKey.post('/api/subscriptions', { topic_name: topic.name })).status).toBe(403);
});

test('subscriptions are removed when their topic is made private, even if unused', async () => {
  const [owner, reader] = [await stack.person(), await stack.person()];
  const topic = await createTopic(owner);
  for (const person of [owner, reader]) await subscribe(person, topic.name);
  await owner.patch(`/api/topics/${topic.id}`, { access_level: 'private' });
  await eventually(async () => {
    expect((await owner.get(`/api/topics/${topic.name}`)).body.subscriber_count).toBe(1);
  });
});
