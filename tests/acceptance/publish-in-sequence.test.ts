import { beforeAll, expect, test } from '@jest/globals';
import { createTopic, made } from '../support/stack.ts';
import { useStack, type Person } from '../support/use-stack.ts';

const stack = useStack();
let owner: Person;
let topic: string;
beforeAll(async () => {
  owner = await stack.person({ tier: 'ESSENTIALS' });
  topic = (await createTopic(owner)).name;
});

const send = (method: 'POST' | 'PUT', path: string, text: string, headers = {}) =>
  owner.client.call(method, `/${topic}/${path}`, { text, headers });
const history = async (): Promise<unknown[]> => (await owner.get(`/${topic}/json`)).body.messages;

test.each(['POST', 'PUT'] as const)(
  '%s replaces the message of the sequence and returns what clients of ntfy read',
  async (method) => {
    const sequence = `${method}-1_2.3`;
    const first = await made(send(method, sequence, '50 %', { Title: 'Backup', 'X-Priority': 'high' }));
    const second = await made(send(method, `${sequence}?tags=ok`, 'done'));
    expect([first, second]).toMatchObject([
      { title: 'Backup', priority: 4, is_edited: false },
      { id: first.id, message: 'done', title: null, tags: ['ok'], is_edited: true },
    ]);
    expect(second).toMatchObject({
      event: 'message',
      topic,
      sequence_id: sequence,
      time: Math.floor(Date.parse(second.timestamp) / 1_000),
      expires: Math.floor(Date.parse(second.expires_at) / 1_000),
    });
    expect(await history()).toContainEqual(expect.objectContaining({ id: first.id, message: 'done' }));
  },
);

test('the sequence of the path is that of the header and takes precedence', async () => {
  const first = await made(owner.client.call('POST', `/${topic}`, { text: '1', headers: { 'X-Sequence-ID': 'door' } }));
  const second = await made(send('PUT', 'door', '2', { 'X-Sequence-ID': 'another' }));
  expect([second.id, second.sequence_id]).toEqual([first.id, 'door']);
});

test('a path of ntfy is no other route, and an invalid sequence ID is a 422', async () => {
  for (const route of ['json', 'sse', 'ws'])
    expect(await send('POST', route, 'text')).toMatchObject({ status: 405, body: { detail: expect.any(String) } });
  for (const path of ['api', 'auth', 'v1', 'ack', 'Console'])
    expect((await owner.client.call('PUT', `/${path}/nothing/`, { text: 'text' })).status).toBe(404);
  for (const part of ['clear', 'read'])
    expect(await send('PUT', `door/${part}`, '')).toMatchObject({ status: 404, body: { detail: 'Not found' } });
  for (const id of ['with%20space', '%C3%BC', 'a'.repeat(129)])
    expect(await send('PUT', id, 'text')).toMatchObject({
      status: 422,
      body: { detail: 'sequence_id: must be 1 to 128 of A-Z a-z 0-9 . _ -' },
    });
});

test('DELETE deletes the message of the sequence, and the next publish is a new one', async () => {
  const first = await made(send('PUT', 'job', 'running'));
  const deleted = await owner.delete(`/${topic}/job`);
  expect(deleted).toEqual(
    expect.objectContaining({
      status: 200,
      body: { id: first.id, time: expect.any(Number), event: 'message_delete', topic, sequence_id: 'job' },
    }),
  );
  expect(await history()).not.toContainEqual(expect.objectContaining({ id: first.id }));
  expect(await owner.delete(`/${topic}/job`)).toMatchObject({ status: 404, body: { detail: 'Message not found' } });
  expect((await made(send('PUT', 'job', 'running again'))).id).not.toBe(first.id);
});

test('DELETE is for those who may delete the message of their own sequence', async () => {
  await made(send('PUT', 'mine', 'text'));
  const [other, free] = [await stack.person(), await stack.person()];
  await made(other.client.call('PUT', `/${topic}/theirs`, { text: 'text' }));
  const ofFree = (await createTopic(free)).name;
  await made(free.client.call('PUT', `/${ofFree}/mine`, { text: 'text' }));
  const statuses = [
    await stack.caller().delete(`/${topic}/mine`),
    await other.delete(`/${topic}/theirs`),
    await owner.delete(`/${topic}/theirs`),
    await free.delete(`/${ofFree}/mine`),
  ];
  expect(statuses.map(({ status }) => status)).toEqual([401, 403, 404, 403]);
});
