import { spawnSync } from 'node:child_process';
import { expect, test } from '@jest/globals';
import { createTopic, testStack } from './stack.ts';
import { useStack } from './use-stack.ts';

const stack = useStack();
const operator = stack.caller({ Authorization: `Bearer ${testStack().env['ADMIN_TOKEN']!}` });
const underHold = { status: 409, body: { detail: 'Topic is under legal hold' } };

/** Runs `tocsin topic …` beside the running stack. */
function command(...args: string[]): { status: number | null; stdout: string; stderr: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['cli/main.ts', 'topic', ...args], { env: { ...process.env, ...testStack().env }, encoding: 'utf8' });
  return { status, stdout, stderr };
}

test('while the operator holds a topic it is not deleted, and neither is its owner\'s account', async () => {
  const owner = await stack.person();
  const { id, name } = await createTopic(owner);
  const held = { status: 200, body: { topic: name, topic_id: id, legal_hold: true } };
  expect(await operator.put(`/admin/topics/${name.toUpperCase()}/hold`)).toMatchObject(held);
  expect(await operator.put(`/admin/topics/${name}/hold`)).toMatchObject(held);
  expect(await owner.delete(`/api/topics/${id}`)).toMatchObject(underHold);
  expect(await owner.delete('/api/users/me', { password: owner.password })).toMatchObject(underHold);
  const released = { status: 200, body: { topic: name, topic_id: id, legal_hold: false } };
  expect(await operator.delete(`/admin/topics/${name}/hold`)).toMatchObject(released);
  expect(await operator.delete(`/admin/topics/${name}/hold`)).toMatchObject(released);
  expect((await owner.delete(`/api/topics/${id}`)).status).toBe(204);
});

test('a hold set by the command counts on the running server at once', async () => {
  const owner = await stack.person();
  const { id, name } = await createTopic(owner);
  expect(command('hold', name, '--json')).toEqual({ status: 0, stdout: `${JSON.stringify({ topic: name, topic_id: id, legal_hold: true })}\n`, stderr: '' });
  expect(await owner.delete(`/api/topics/${id}`)).toMatchObject(underHold);
  expect(command('release', name)).toEqual({ status: 0, stdout: `topic: ${name}\ntopic_id: ${id}\nlegal_hold: false\n`, stderr: '' });
  expect((await owner.delete(`/api/topics/${id}`)).status).toBe(204);
  expect(command('hold', name)).toEqual({ status: 1, stdout: '', stderr: 'Topic not found\n' });
});

test('holds are for the operator alone, and for topics that exist', async () => {
  const owner = await stack.person();
  const { name } = await createTopic(owner);
  for (const send of ['put', 'delete'] as const) {
    expect(await stack.caller()[send](`/admin/topics/${name}/hold`)).toMatchObject({ status: 401, body: { detail: 'Not authenticated' } });
    expect(await owner[send](`/admin/topics/${name}/hold`)).toMatchObject({ status: 401, body: { detail: 'Could not validate credentials' } });
    expect(await operator[send]('/admin/topics/no-such-topic/hold')).toMatchObject({ status: 404, body: { detail: 'Topic not found' } });
  }
});
