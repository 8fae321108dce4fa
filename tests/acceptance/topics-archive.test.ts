import { expect, test } from '@jest/globals';
import { createTopic, newTopicName } from '../support/stack.ts';
import { useStack } from '../support/use-stack.ts';

const stack = useStack();

test('who manages a topic sets archive at its creation and later, and topics that never set it have the default', async () => {
  const owner = await stack.person();
  const topic = await createTopic(owner);
  const made = (given: object) => owner.post('/api/topics', { name: newTopicName(), ...given });
  const read = async () => (await owner.get(`/api/topics/${topic.name}`)).body.archive;
  expect([(await made({})).body.archive, await read()]).toEqual([true, true]);
  expect(await owner.patch(`/api/topics/${topic.id}`, { archive: false })).toMatchObject({
    status: 200,
    body: { archive: false },
  });
  expect(await read()).toBe(false);
  expect((await owner.patch(`/api/topics/${topic.id}`, { description: 'x' })).body.archive).toBe(false);
  expect(await made({ archive: false })).toMatchObject({ status: 201, body: { archive: false } });
  const listed = (await owner.get('/api/topics/my')).body as { archive: boolean }[];
  expect(listed.map(({ archive }) => archive).sort()).toEqual([false, false, true]);
  const wrong = [0, 'true', 'off', {}];
  for (const archive of wrong) {
    const refused = { status: 422, body: { detail: expect.stringMatching(/^archive: /) } };
    expect(await owner.patch(`/api/topics/${topic.id}`, { archive })).toMatchObject(refused);
    expect(await made({ archive })).toMatchObject(refused);
  }
  expect((await owner.patch(`/api/topics/${topic.id}`, { archive: null })).status).toBe(422);
});

test('only callers who manage a topic see archive', async () => {
  const [owner, other] = [await stack.person(), await stack.person()];
  const topic = await createTopic(owner);
  const seen = await other.get(`/api/topics/${topic.name}`);
  expect(seen.status).toBe(200);
  expect(seen.body).not.toHaveProperty('archive');
  expect((await other.patch(`/api/topics/${topic.id}`, { archive: false })).status).toBe(403);
});
