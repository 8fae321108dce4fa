import { expect, test } from '@jest/globals';
import { createTopic } from '../support/stack.ts';
import { useStack, type Person } from '../support/use-stack.ts';

const stack = useStack();
const subscribe = async (person: Person, topic_name: string): Promise<string> =>
  (await person.post('/api/subscriptions', { topic_name })).body.id as string;

/** Quiet hours that include, or exclude, the current time for at least an hour. */
function hours(isQuietNow: boolean, allow_priority?: number | null) {
  const hour = new Date().getUTCHours();
  const clock = (ahead: number) => `${String((hour + ahead + 24) % 24).padStart(2, '0')}:00`;
  const [start, end] = isQuietNow ? [clock(-1), clock(3)] : [clock(3), clock(-1)];
  return { start, end, timezone: 'Etc/UTC', ...(allow_priority === undefined ? {} : { allow_priority }) };
}

test('a preview counts the pushes of other settings and changes nothing', async () => {
  const [owner, reader] = [await stack.person(), await stack.person()];
  const topic = await createTopic(owner);
  const id = await subscribe(reader, topic.name);
  for (const [priority, tags] of [
    [1, ['a']],
    [3, ['a', 'b']],
    [4, ['b']],
    [5, ['b']],
  ] as const)
    expect((await owner.post('/', { topic: topic.name, message: 'x', priority, tags })).status).toBe(200);
  const before = (await reader.get('/api/subscriptions')).body.subscriptions[0];
  const preview = async (mobile_notification_settings: object, rest: object = {}) => {
    const { status, body } = await reader.post(`/api/subscriptions/${id}/preview`, {
      mobile_notification_settings,
      ...rest,
    });
    expect({ status, body }).toMatchObject({ status: 200, body: { messages: 4 } });
    expect(Date.parse(body.end_date) - Date.parse(body.start_date)).toBe(30 * 86_400_000);
    expect(body.days).toHaveLength(31);
    const sum = (field: string) =>
      body.days.reduce((total: number, day: Record<string, number>) => total + day[field]!, 0);
    for (const field of ['messages', 'would_push', 'quiet', 'collapsed', 'digest'])
      expect(sum(field)).toBe(body[field]);
    return [
      body.would_push,
      body.quiet,
      body.collapsed,
      [1, 2, 3, 4, 5].map((priority) => sum(`priority_${priority}`)),
    ];
  };
  expect(await preview({})).toEqual([4, 0, 0, [1, 0, 1, 1, 1]]);
  expect(await preview({ priority_threshold: 4 })).toEqual([2, 0, 0, [0, 0, 0, 1, 1]]);
  expect(await preview({ tags_filter: ['a'] })).toEqual([2, 0, 0, [1, 0, 1, 0, 0]]);
  expect(await preview({ tags_filter: ['none', 'a, b'] })).toEqual([0, 0, 0, [0, 0, 0, 0, 0]]);
  expect(await preview({}, { mobile_notifications_enabled: false })).toEqual([0, 0, 0, [0, 0, 0, 0, 0]]);
  expect(await preview({ quiet_hours: hours(true) })).toEqual([1, 3, 0, [0, 0, 0, 0, 1]]);
  expect(await preview({ quiet_hours: hours(true, 4), priority_threshold: 3 })).toEqual([2, 1, 0, [0, 0, 0, 1, 1]]);
  expect(await preview({ quiet_hours: hours(false) })).toEqual([4, 0, 0, [1, 0, 1, 1, 1]]);
  expect(await preview({ max_per_minute: 1_000 })).toEqual([4, 0, 0, [1, 0, 1, 1, 1]]);
  expect(await preview({ digest: '15m', quiet_hours: hours(true) })).toEqual([1, 1, 0, [0, 0, 0, 0, 1]]);
  expect((await reader.get('/api/subscriptions')).body.subscriptions[0]).toEqual(before);

  await reader.patch(`/api/subscriptions/${id}`, { mobile_notification_settings: { priority_threshold: 5 } });
  expect(await preview({})).toEqual([1, 0, 0, [0, 0, 0, 0, 1]]);
});

test('a preview requires an own subscription and validates settings like a PATCH', async () => {
  const [owner, stranger] = [await stack.person(), await stack.person()];
  const id = await subscribe(owner, (await createTopic(owner)).name);
  expect(await stranger.post(`/api/subscriptions/${id}/preview`, {})).toMatchObject({
    status: 404,
    body: { detail: 'Subscription not found' },
  });
  expect(await stack.caller().post(`/api/subscriptions/${id}/preview`, {})).toMatchObject({ status: 401 });
  expect(
    await owner.post(`/api/subscriptions/${id}/preview`, { mobile_notification_settings: { priority_threshold: 6 } }),
  ).toMatchObject({
    status: 422,
    body: { detail: 'mobile_notification_settings.priority_threshold: must be a whole number from 1 to 5' },
  });
});

test('the preview shows quiet hours and the limit per minute while they are set', async () => {
  const person = await stack.person();
  const topic = await createTopic(person);
  const quiet_hours = { start: '22:00', end: '07:00', timezone: 'Europe/Berlin', allow_priority: null };
  const made = await person.post('/api/subscriptions', {
    topic_name: topic.name,
    mobile_notification_settings: { quiet_hours, max_per_minute: null },
  });
  expect(made).toMatchObject({ status: 201, body: { mobile_notification_settings: { quiet_hours } } });
  expect(made.body.mobile_notification_settings).not.toHaveProperty('max_per_minute');
  const patch = async (mobile_notification_settings: object) =>
    person.patch(`/api/subscriptions/${made.body.id}`, { mobile_notification_settings });
  const { allow_priority: _, ...hoursAlone } = quiet_hours;
  expect((await patch({ quiet_hours: hoursAlone, max_per_minute: 5 })).body.mobile_notification_settings).toMatchObject(
    { quiet_hours: { ...hoursAlone, allow_priority: 5 }, max_per_minute: 5 },
  );
  expect((await patch({ priority_threshold: 2 })).body.mobile_notification_settings).toMatchObject({
    quiet_hours: hoursAlone,
    max_per_minute: 5,
  });
  const off = (await patch({ quiet_hours: null, max_per_minute: null })).body.mobile_notification_settings;
  expect(Object.keys(off).sort()).toEqual([
    'allow_critical',
    'badge',
    'digest',
    'notification_sound',
    'priority_threshold',
    'sound_enabled',
    'tags_filter',
    'vibrate_enabled',
  ]);
  for (const [field, wrong] of [
    ['quiet_hours', { ...quiet_hours, start: '24:00' }],
    ['quiet_hours', { ...quiet_hours, end: '7:00' }],
    ['quiet_hours', { ...quiet_hours, end: '22:00' }],
    ['quiet_hours', { ...quiet_hours, timezone: 'Mars/Olympus' }],
    ['quiet_hours', { ...quiet_hours, timezone: '+02:00' }],
    ['quiet_hours', { ...quiet_hours, allow_priority: 6 }],
    ['quiet_hours', { start: '22:00' }],
    ['quiet_hours', 'at night'],
    ['max_per_minute', 0],
    ['max_per_minute', 1_001],
    ['max_per_minute', 1.5],
    ['max_per_minute', '5'],
  ] as const) {
    const { status, body } = await patch({ [field]: wrong });
    expect({ wrong, status, at: String(body.detail).startsWith(`mobile_notification_settings.${field}`) }).toEqual({
      wrong,
      status: 422,
      at: true,
    });
  }
});
