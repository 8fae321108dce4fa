import { expect, test } from '@jest/globals';
import { mailedLink } from '../support/mailbox.ts';
import { createTopic } from '../support/stack.ts';
import { openStream } from '../support/open-stream.ts';
import { useStack } from '../support/use-stack.ts';

const stack = useStack();

async function teamWithTopics() {
  const [owner, member] = [await stack.person({ tier: 'TEAM' }), await stack.person()];
  const id = await stack.team(owner, [[member, 'member']]);
  const open = await createTopic(owner, { team_id: id, is_discoverable: true, description: 'd' });
  const closed = await createTopic(member, {}).then(() => createTopic(owner, { team_id: id, access_level: 'private' }));
  for (const { name } of [open, closed]) expect((await member.publish(name, 'kept?')).status).toBe(200);
  return { owner, member, id, open, closed };
}

test('without its topics: they become private topics of the owner and keep their history', async () => {
  const { owner, member, id, open, closed } = await teamWithTopics();
  for (const { name } of [open, closed])
    expect((await member.post('/api/subscriptions', { topic_name: name })).status).toBe(201);
  const stream = await openStream(`/${open.name}/ws?token=${member.client.token}`);
  expect((await owner.delete(`/api/teams/${id}`)).status).toBe(204);
  expect(await owner.get(`/api/teams/${id}`)).toMatchObject({ status: 404, body: { detail: 'Team not found' } });
  expect((await owner.get('/api/teams')).body).toEqual([]);
  expect((await member.get('/api/teams')).body).toEqual([]);
  for (const { id: topicId, name } of [open, closed]) {
    expect((await owner.get(`/api/topics/${name}`)).body).toMatchObject({
      id: topicId,
      team_id: null,
      access_level: 'private',
      owner_id: owner.id,
      message_count: 1,
    });
    expect(await member.get(`/api/topics/${name}`)).toMatchObject({ status: 403 });
    expect((await stack.caller().get(`/${name}/json`)).status).toBe(401);
    expect((await owner.publish(name)).status).toBe(200);
  }
  expect((await owner.get('/api/topics/my')).body.length).toBe(2);
  expect(
    (await stack.caller().get(`/api/topics/public?limit=100`)).body.some(
      ({ id: listed }: { id: string }) => listed === open.id,
    ),
  ).toBe(false);
  expect((await member.get('/api/subscriptions')).body.total).toBe(0);
  expect(await stream.code).toBe(4403);
});

test('a key needs topics:write to delete the topics, and account:write alone to keep them', async () => {
  const { owner, id, open } = await teamWithTopics();
  const keyOf = async (...scopes: string[]) =>
    stack.caller({ 'X-API-Key': (await owner.post('/api/keys', { name: 'k', scopes })).body.key });
  const limited = await keyOf('account:write');
  expect(await limited.delete(`/api/teams/${id}?delete_topics=true`)).toMatchObject({
    status: 403,
    body: { detail: 'Missing scope: topics:write' },
  });
  expect((await owner.get(`/api/topics/${open.name}`)).body).toMatchObject({ team_id: id });
  expect((await limited.delete(`/api/teams/${id}`)).status).toBe(204);
  const other = await stack.team(owner);
  const both = await keyOf('account:write', 'topics:write');
  expect((await both.delete(`/api/teams/${other}?delete_topics=true`)).status).toBe(204);
});

test('with its topics: they are deleted and their names become available', async () => {
  const { owner, member, id, open, closed } = await teamWithTopics();
  const stream = await openStream(`/${closed.name}/ws?token=${member.client.token}`);
  expect((await owner.delete(`/api/teams/${id}?delete_topics=true`)).status).toBe(204);
  for (const { name } of [open, closed]) {
    expect((await owner.get(`/api/topics/${name}`)).status).toBe(404);
    expect((await owner.get(`/${name}/json`)).status).toBe(404);
  }
  expect((await member.post('/api/topics', { name: closed.name })).status).toBe(201);
  expect((await member.get(`/${closed.name}/json`)).body.count).toBe(0);
  expect(await stream.code).toBe(4404);
});

test('converted topics beyond the tier are read-only', async () => {
  const owner = await stack.person({ tier: 'TEAM', tierExpiresAt: Date.now() + 3_600_000 });
  const own = await createTopic(owner, { access_level: 'private' });
  const id = await stack.team(owner);
  const ofTeam = await createTopic(owner, { team_id: id, access_level: 'private' });
  const operator = stack.operator();
  expect((await operator.put(`/admin/users/${owner.email}/tier`, { tier: 'FREE' })).status).toBe(200);
  expect((await owner.publish(ofTeam.name)).status).toBe(200);
  expect((await owner.delete(`/api/teams/${id}`)).status).toBe(204);
  expect((await owner.publish(own.name)).status).toBe(200);
  expect(await owner.publish(ofTeam.name)).toMatchObject({
    status: 403,
    body: { detail: 'Private topic limit reached' },
  });
  expect((await owner.get(`/${ofTeam.name}/json`)).status).toBe(200);
});

test('the name becomes available, and invites of the team are invalid', async () => {
  const { owner, member, id } = await teamWithTopics();
  const { name } = (await owner.get(`/api/teams/${id}`)).body;
  const person = await stack.person();
  const made = (await owner.post(`/api/teams/${id}/invites`, { email: person.email, role: 'member' })).body;
  const token = (await mailedLink(person.email, 'team-invite')).hash.slice('#token='.length);
  expect((await owner.delete(`/api/teams/${id}`)).status).toBe(204);
  expect(await person.post('/api/teams/invites/accept', { token })).toMatchObject({
    status: 400,
    body: { detail: 'Invalid or used token' },
  });
  expect(await owner.delete(`/api/teams/invites/${made.id}`)).toMatchObject({
    status: 404,
    body: { detail: 'Invite not found' },
  });
  expect(await owner.post('/api/topics', { name: 'whatever', team_id: id })).toMatchObject({
    status: 404,
    body: { detail: 'Team not found' },
  });
  expect(await owner.delete(`/api/teams/${id}`)).toMatchObject({ status: 404, body: { detail: 'Team not found' } });
  expect((await owner.post('/api/teams', { name: name.slice(0, 40), display_name: 'Again' })).status).toBe(201);
  expect((await member.get('/api/teams')).body).toEqual([]);
  expect((await owner.get('/api/teams/stats')).body.used_members).toBe(1);
});

test.each(['yes', '', 'TRUE'])('refuses delete_topics=%s', async (value) => {
  const owner = await stack.person({ tier: 'TEAM' });
  const id = await stack.team(owner);
  expect(await owner.delete(`/api/teams/${id}?delete_topics=${value}`)).toMatchObject({
    status: 422,
    body: { detail: 'delete_topics: must be true, false, 1 or 0' },
  });
  expect((await owner.get(`/api/teams/${id}`)).status).toBe(200);
});
