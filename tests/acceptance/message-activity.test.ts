import { beforeAll, expect, test } from '@jest/globals';
import { createTopic, newTopicName } from '../support/stack.ts';
import { useStack, type Person } from '../support/use-stack.ts';

const hour = 3_600_000;
const day = 24 * hour;
const stack = useStack();
let reader: Person;
let own: { id: string; name: string };
let elsewhere: { id: string; name: string };
// oxlint-disable-next-line typescript/no-explicit-any -- a test asserts what it finds
const published: any[] = [];

beforeAll(async () => {
  const other = await stack.person();
  reader = await stack.person({ tier: 'TEAM' });
  own = await createTopic(reader);
  elsewhere = await createTopic(other);
  for (const [index, priority] of [1, 3, 3, 5].entries()) {
    published.push(
      (await reader.post('/', { topic: own.name, message: `Number ${index}`, priority, tags: [`i${index}`] })).body,
    );
  }
  const { body: gone } = await reader.publish(own.name, 'gone');
  await reader.delete(`/api/${own.name}/messages/${gone.id}`);
  await other.publish(elsewhere.name, 'elsewhere');
});

type Bucket = Record<'priority_1' | 'priority_2' | 'priority_3' | 'priority_4' | 'priority_5', number> & {
  timestamp: string;
};
const activity = (query = '') => reader.get(`/api/messages/activity${query}`);
const sum = (buckets: Bucket[], priority: 1 | 2 | 3 | 4 | 5): number =>
  buckets.reduce((total, bucket) => total + bucket[`priority_${priority}`], 0);
const floor = (time: number, size: number) => Math.floor(time / size) * size;
const startsOf = (from: number, to: number, size: number): string[] => {
  const starts: string[] = [];
  for (let at = floor(from, size); at <= to; at += size) starts.push(new Date(at).toISOString());
  return starts;
};

test('counts the last 24 hours by UTC hour by default, including empty hours', async () => {
  const before = Date.now();
  const { status, body } = await activity();
  const [start, end] = [Date.parse(body.start_date), Date.parse(body.end_date)];
  expect(status).toBe(200);
  expect(end - start).toBe(day);
  expect(end).toBeGreaterThanOrEqual(before);
  expect(end).toBeLessThanOrEqual(Date.now());
  expect(body).toMatchObject({ total: 4, bucket_size: 'hour' });
  expect(body.buckets.map(({ timestamp }: Bucket) => timestamp)).toEqual(startsOf(start, end, hour));
  expect(([1, 2, 3, 4, 5] as const).map((priority) => sum(body.buckets, priority))).toEqual([1, 0, 2, 0, 1]);
  expect(body.buckets[0]).toEqual({
    timestamp: expect.any(String),
    priority_1: 0,
    priority_2: 0,
    priority_3: 0,
    priority_4: 0,
    priority_5: 0,
  });
  const first = new Date(floor(Date.parse(published[0].timestamp), hour)).toISOString();
  expect(body.buckets.find(({ timestamp }: Bucket) => timestamp === first).priority_1).toBe(1);
});

test('counts only messages in the range, including both ends', async () => {
  const [first, last] = [published[0].timestamp as string, published[3].timestamp as string];
  const { body } = await activity(`?start_date=${first}&end_date=${last}`);
  expect(body).toMatchObject({ total: 4, start_date: first, end_date: last, bucket_size: 'hour' });
  expect(body.buckets.map(({ timestamp }: Bucket) => timestamp)).toEqual(
    startsOf(Date.parse(first), Date.parse(last), hour),
  );
  const later = new Date(Date.parse(last) + 1).toISOString();
  expect((await activity(`?start_date=${later}`)).body.total).toBe(0);
  const earlier = new Date(Date.parse(first) - 1).toISOString();
  expect((await activity(`?start_date=2026-01-01&end_date=${earlier}`)).body.total).toBe(0);
});

test.each([
  ['start_date=2026-03-01T00:30:00Z&end_date=2026-03-03T00:30:00Z', 'hour', 49],
  ['start_date=2026-03-01T00:30:00Z&end_date=2026-03-03T00:30:00.001Z', 'day', 3],
  ['start_date=2026-03-01&end_date=2026-03-01', 'hour', 24],
  ['start_date=2026-03-01&end_date=2026-03-02', 'hour', 48],
  ['start_date=2026-03-01&end_date=2026-03-03', 'day', 3],
  ['start_date=2026-03-01&end_date=2026-03-01&bucket=day', 'day', 1],
  ['start_date=2026-03-01T23:00:00%2B02:00&end_date=2026-03-02T01:00:00%2B02:00', 'hour', 3],
  ['start_date=2026-01-01T00:00:00Z&end_date=2026-02-11T15:59:59.999Z&bucket=hour', 'hour', 1_000],
  ['start_date=2026-01-01&end_date=2028-09-26', 'day', 1_000],
])('?%s uses buckets of one %s: %i', async (query, size, count) => {
  const { status, body } = await activity(`?${query}`);
  expect([status, body.bucket_size, body.buckets.length]).toEqual([200, size, count]);
  for (const { timestamp } of body.buckets) expect(Date.parse(timestamp) % (size === 'hour' ? hour : day)).toBe(0);
});

test.each([
  ['start_date=2026-01-01T00:00:00Z&end_date=2026-02-11T16:00:00Z&bucket=hour', 'start_date'],
  ['start_date=2026-01-01&end_date=2028-09-27', 'start_date'],
  ['start_date=2026-01-02&end_date=2026-01-01', 'start_date'],
  ['start_date=2999-01-01', 'start_date'],
  ['end_date=2026-01-01', 'start_date'],
  ['start_date=soon', 'start_date'],
  ['bucket=week', 'bucket'],
  ['priority_min=3&priority_max=2', 'priority_min'],
  ['priority_max=0', 'priority_max'],
  [`query=${'x'.repeat(201)}`, 'query'],
  [`topics=${Array.from({ length: 101 }, (_, index) => `t${index}`).join(',')}`, 'topics'],
  [`tags=${Array.from({ length: 21 }, (_, index) => index).join(',')}`, 'tags'],
  ['bucket=day&bucket=hour', 'bucket'],
])('?%s returns 422', async (query, field) => {
  const { status, body } = await activity(`?${query}`);
  expect(status).toBe(422);
  expect(body.detail).toMatch(new RegExp(`^${field}: `));
});

test.each([
  ['priority_min=3', 3],
  ['priority_min=2&priority_max=4', 2],
  ['tags=i0,i3', 2],
  ['tags=i0&tags=i3', 2],
  ['query=NUMBER', 4],
  ['query=number%203', 1],
  ['query=%20%20%20', 4],
  ['query=gone', 0],
  ['query=number&tags=i1&priority_max=3', 1],
  ['topics=', 4],
])('?%s counts %i', async (query, count) => {
  expect((await activity(`?${query}`)).body.total).toBe(count);
});

test('counts only the named topics, including public topics of others', async () => {
  expect((await activity(`?topics=${elsewhere.name}`)).body.total).toBe(1);
  expect((await activity(`?topics=${own.name.toUpperCase()},${elsewhere.name},${own.name}`)).body.total).toBe(5);
  expect(await activity(`?topics=${own.name},${newTopicName()}`)).toMatchObject({
    status: 404,
    body: { detail: 'Topic not found' },
  });
  const secret = await createTopic(await stack.person(), { access_level: 'private' });
  expect(await activity(`?topics=${own.name},${secret.name}`)).toMatchObject({
    status: 403,
    body: { detail: 'Insufficient permissions to access this topic' },
  });
});
