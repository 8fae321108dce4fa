import { expect, test } from '@jest/globals';
import { runCommand } from '../support/run-command.ts';
import { createTopic, testStack } from '../support/stack.ts';
import { useStack } from '../support/use-stack.ts';

const stack = useStack();
const operator = stack.caller({ Authorization: `Bearer ${testStack().env['ADMIN_TOKEN']!}` });
const underHold = { status: 409, body: { detail: 'Topic is under legal hold' } };

/** Runs `tocsin topic …` next to the running stack. */
const command = (...args: string[]) => runCommand(['topic', ...args]);

test("a held topic and its owner's account cannot be deleted", async () => {
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

test('a hold set by the command applies to the running server immediately', async () => {
  const owner = await stack.person();
  const { id, name } = await createTopic(owner);
  expect(await command('hold', name, '--json')).toEqual({
    code: 0,
    out: `${JSON.stringify({ topic: name, topic_id: id, legal_hold: true })}\n`,
    error: '',
  });
  expect(await owner.delete(`/api/topics/${id}`)).toMatchObject(underHold);
  expect(await command('release', name)).toEqual({
    code: 0,
    out: `topic: ${name}\ntopic_id: ${id}\nlegal_hold: false\n`,
    error: '',
  });
  expect((await owner.delete(`/api/topics/${id}`)).status).toBe(204);
  expect(await command('hold', name)).toEqual({ code: 1, out: '', error: 'Topic not found\n' });
});

test('only the operator sets holds, and only on existing topics', async () => {
  const owner = await stack.person();
  const { name } = await createTopic(owner);
  for (const send of ['put', 'delete'] as const) {
    expect(await stack.caller()[send](`/admin/topics/${name}/hold`)).toMatchObject({
      status: 401,
      body: { detail: 'Not authenticated' },
    });
    expect(await owner[send](`/admin/topics/${name}/hold`)).toMatchObject({
      status: 401,
      body: { detail: 'Could not validate credentials' },
    });
    expect(await operator[send]('/admin/topics/no-such-topic/hold')).toMatchObject({
      status: 404,
      body: { detail: 'Topic not found' },
    });
  }
});

test('the operator lists the topics under legal hold', async () => {
  const owner = await stack.person();
  const [first, second] = [await createTopic(owner), await createTopic(owner)];
  const list = async () => {
    const { status, body } = await operator.get('/admin/holds?limit=1000');
    expect(status).toBe(200);
    return (body as { topic: string }[]).filter(({ topic }) => [first.name, second.name].includes(topic));
  };
  await operator.put(`/admin/topics/${first.name}/hold`);
  await operator.put(`/admin/topics/${second.name}/hold`);
  const held = ({ id, name }: { id: string; name: string }) => ({ topic: name, topic_id: id, legal_hold: true });
  expect(await list()).toEqual([held(second), held(first)]);
  await operator.delete(`/admin/topics/${first.name}/hold`);
  expect(await list()).toEqual([held(second)]);
});
