import { beforeAll, expect, test } from '@jest/globals';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { Client, createTopic, newTopicName } from '../support/stack.ts';
import { useStack, type Person } from '../support/use-stack.ts';

const stack = useStack();
let owner: Person;
let next: Person;
beforeAll(async () => {
  [owner, next] = [await stack.person({ tier: 'TEAM' }), await stack.person({ tier: 'TEAM' })];
});

const log = async (name: string, query = '') =>
  (await new Client().call('GET', `/api/topics/${name}/log${query}`)).body;
const publish = async (name: string, times: number): Promise<number[]> => {
  const offsets: number[] = [];
  for (let at = 0; at < times; at += 1) {
    const { status, body } = await owner.client.call('POST', `/${name}`, { text: 'x' });
    expect(status).toBe(200);
    offsets.push(body.offset);
  }
  return offsets;
};
const remove = async (by: Person, id: string) => expect((await by.delete(`/api/topics/${id}`)).status).toBe(204);
const reason = 'deleted_topic_history';

test('a topic of the name of a deleted one says which records are gone, and nothing else about them', async () => {
  const name = newTopicName();
  const former = await createTopic(owner, { name });
  const [first, second] = (await publish(name, 2)) as [number, number];
  await remove(owner, former.id);
  await createTopic(next, { name });

  const empty = { records: [], gap: { from_offset: first, to_offset: second + 1, reason } };
  expect(await log(name, `?from_offset=${first}`)).toMatchObject(empty);
  expect(await log(name, `?from_offset=${second + 1}`)).toMatchObject({ records: [], gap: null });
  const consumer = `/api/topics/${name}/consumers/reader`;
  expect((await next.put(consumer, { offset: second })).body).toMatchObject({ lag: 0, lost: 0 });
  expect((await next.get(`/api/topics/${name}/log?consumer=reader`)).body.gap).toEqual({
    ...{ from_offset: second, to_offset: second + 1, reason },
  });

  const [third] = (await publish(name, 1)) as [number];
  expect(third).toBeGreaterThan(second);
  expect(await log(name)).toMatchObject({
    ...{ records: [{ offset: third }], earliest_offset: third, gap: { from_offset: 0, to_offset: third, reason } },
  });
  expect((await log(name, `?from_offset=${third}`)).gap).toBeNull();
  expect((await log(name, `?from_offset=${second + 1}`)).gap).toBeNull();
  const lines = await stack
    .caller({ Accept: 'application/x-ndjson' })
    .get(`/api/topics/${name}/log?from_offset=${second}`);
  expect(lines.body.split('\n')[0]).toBe(
    JSON.stringify({ type: 'gap', from_offset: second, to_offset: third, reason }),
  );
  for (const path of ['json?since=all', 'json']) {
    const { body } = await new Client().call('GET', `/${name}/${path}`);
    expect(body).toMatchObject({ count: 1, messages: [{ offset: third }] });
  }
});

test('the range includes all deleted topics of the name, also after their clean-up', async () => {
  const name = newTopicName();
  const offsets: number[] = [];
  for (const count of [2, 0, 1]) {
    const { id } = await createTopic(owner, { name });
    offsets.push(...(await publish(name, count)));
    await remove(owner, id);
  }
  const { id } = await createTopic(next, { name: name.toUpperCase() });
  const last = offsets.at(-1)!;
  const gapFrom = async (from: number) => (await log(name, `?from_offset=${from}`)).gap;
  expect(await gapFrom(offsets[0]!)).toEqual({ from_offset: offsets[0], to_offset: last + 1, reason });
  await remove(next, id);
  await eventually(async () => {
    const { id: again } = await createTopic(next, { name });
    expect(await gapFrom(last)).toEqual({ from_offset: last, to_offset: last + 1, reason });
    await remove(next, again);
  });
});

test('a topic that is renamed to a free name has no records of the deleted one', async () => {
  const name = newTopicName();
  const former = await createTopic(owner, { name });
  const [first] = (await publish(name, 1)) as [number];
  const other = await createTopic(next);
  await remove(owner, former.id);
  expect((await next.patch(`/api/topics/${other.id}`, { name })).status).toBe(200);
  expect((await log(name, `?from_offset=${first}`)).gap).toBeNull();
});
