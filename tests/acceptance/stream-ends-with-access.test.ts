import { expect, test } from '@jest/globals';
import { createTopic } from '../support/stack.ts';
import { useStack, type Person } from '../support/use-stack.ts';
import { useStreams } from '../support/use-streams.ts';
import { watchStreams } from '../support/watch-streams.ts';

const stack = useStack();
const streams = useStreams();

/** Opens streams of every kind. */
const watch = (of: Parameters<typeof watchStreams>[1]) => watchStreams(streams, of);

async function teamTopic() {
  const [owner, member] = [await stack.person({ tier: 'TEAM' }), await stack.person()];
  const team = await stack.team(owner, [[member, 'member']]);
  const topic = await createTopic(owner, { team_id: team, access_level: 'private' });
  return { owner, member, team, topic };
}

test('making a topic private ends the streams of callers without access with 4403, and no others', async () => {
  const [owner, reader] = [await stack.person(), await stack.person()];
  const [topic, other] = [await createTopic(owner), await createTopic(owner)];
  const { token } = (await owner.post(`/api/topics/${topic.name}/access-tokens`, { name: 't', permissions: ['read'] }))
    .body;
  const { key } = (await reader.post('/api/keys', { name: 'k' })).body;
  const kept = [
    await watch({ topic: topic.name, token: owner.client.token }),
    await watch({ topic: topic.name, query: `token=${token}` }),
  ];
  const lost = [
    await watch({ topic: topic.name, otherTopics: [other.name] }),
    await watch({ topic: topic.name, token: reader.client.token }),
    await watch({ topic: topic.name, query: `api_key=${key}` }),
  ];
  const close = () => owner.patch(`/api/topics/${topic.id}`, { access_level: 'private' });
  await Promise.all(lost.map((each, at) => each.expectEnd(4403, at === 0 ? close : () => Promise.resolve())));
  for (const each of kept) await each.expectOpen((text) => owner.publish(topic.name, text));
  expect(await streams.sse(`/${topic.name}/sse`)).toMatchObject({ status: 401, body: { detail: 'Not authenticated' } });
});

test('deleting a topic ends all its streams with 4404, also those of its tokens', async () => {
  const owner = await stack.person();
  const [topic, other] = [await createTopic(owner), await createTopic(owner)];
  const { token } = (await owner.post(`/api/topics/${topic.name}/access-tokens`, { name: 't', permissions: ['read'] }))
    .body;
  const all = [
    await watch({ topic: topic.name, otherTopics: [other.name] }),
    await watch({ topic: topic.name, token: owner.client.token }),
    await watch({ topic: topic.name, query: `token=${token}` }),
  ];
  await Promise.all(
    all.map((each, at) =>
      each.expectEnd(4404, at === 0 ? () => owner.delete(`/api/topics/${topic.id}`) : () => Promise.resolve()),
    ),
  );
  expect(await streams.sse(`/${topic.name}/sse`)).toMatchObject({ status: 404, body: { detail: 'Topic not found' } });
});

test('changes of another topic end no streams', async () => {
  const owner = await stack.person();
  const [topic, other] = [await createTopic(owner), await createTopic(owner)];
  const reader = await watch({ topic: topic.name });
  await owner.delete(`/api/topics/${other.id}`);
  await owner.patch(`/api/topics/${topic.id}`, { description: 'changed' });
  await reader.expectOpen((text) => owner.publish(topic.name, text));
});

test("removing a member ends their streams of the team's private topics with 4403", async () => {
  const { owner, member, team, topic } = await teamTopic();
  const reader = await watch({ topic: topic.name, token: member.client.token });
  const ownersOwn = await watch({ topic: topic.name, token: owner.client.token });
  await reader.expectEnd(4403, () => owner.delete(`/api/teams/${team}/members/${member.id}`));
  await ownersOwn.expectOpen((text) => owner.publish(topic.name, text));
});

test('streams of a session end with the access of its credential', async () => {
  const { owner, member, team, topic } = await teamTopic();
  const session = (await member.post('/api/sse/sessions', { topics: [topic.name] })).body.session_id as string;
  const all = [await streams.sse(`/sse?session=${session}`), await streams.ws(`/ws?session=${session}`, { node: 1 })];
  for (const stream of all) await stream.ready();
  await owner.delete(`/api/teams/${team}/members/${member.id}`);
  expect((await Promise.all(all.map(({ ended }) => ended))).map(({ code }) => code)).toEqual([0, 4403]);
});

test.each([
  ['and its topics', 'true', 4404],
  ["and its topics become the owner's", 'false', 4403],
])('deleting a team %s', async (_case, deleteTopics, code) => {
  const { owner, member, team, topic } = await teamTopic();
  const reader = await watch({ topic: topic.name, token: member.client.token });
  await reader.expectEnd(code, () => owner.delete(`/api/teams/${team}?delete_topics=${deleteTopics}`));
});

test('readers can return to a topic that was made private and public again', async () => {
  const [owner, reader]: [Person, Person] = [await stack.person(), await stack.person()];
  const topic = await createTopic(owner);
  const lost = await watch({ topic: topic.name, token: reader.client.token });
  await lost.expectEnd(4403, () => owner.patch(`/api/topics/${topic.id}`, { access_level: 'private' }));
  await owner.patch(`/api/topics/${topic.id}`, { access_level: 'public' });
  const back = await watch({ topic: topic.name, token: reader.client.token });
  await back.expectOpen((text) => owner.publish(topic.name, text));
});
