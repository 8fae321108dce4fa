import { expect, test } from '@jest/globals';
import { mailedLink } from '../support/mailbox.ts';
import { openStream } from '../support/open-stream.ts';
import { createTopic, made } from '../support/stack.ts';
import { useStack } from '../support/use-stack.ts';

const stack = useStack();
/** How long access may last after its end, with a margin for a loaded machine. */
const endsWithinMs = 8_000;

async function crew() {
  const [owner, member] = [await stack.person({ tier: 'TEAM' }), await stack.person()];
  const id = await stack.team(owner, [[member, 'admin']]);
  const open = await createTopic(owner, { team_id: id });
  const closed = await createTopic(owner, { team_id: id, access_level: 'private' });
  const leave = () => owner.delete(`/api/teams/${id}/members/${member.id}`);
  return { owner, member, id, open, closed, leave };
}

test('a removed member can no longer read, publish or manage anything of the team', async () => {
  const { member, open, closed, leave } = await crew();
  expect((await member.publish(closed.name)).status).toBe(200);
  expect((await leave()).status).toBe(204);
  for (const answer of [
    await member.publish(closed.name),
    await member.get(`/api/topics/${closed.name}`),
    await member.get(`/${closed.name}/json`),
    await member.patch(`/api/topics/${open.id}`, {}),
  ]) {
    expect(answer).toMatchObject({ status: 403, body: { detail: 'Insufficient permissions to access this topic' } });
  }
  expect((await member.publish(open.name)).status).toBe(200);
  expect((await member.get('/api/topics')).body.some(({ id }: { id: string }) => id === closed.id)).toBe(false);
});

test("streams of the team's private topics end within 5 seconds with 4403, others continue", async () => {
  const { member, open, closed, leave } = await crew();
  const [lost, kept] = [
    await openStream(`/${closed.name}/ws?token=${member.client.token}`),
    await openStream(`/${open.name}/ws?token=${member.client.token}`),
  ];
  let isOpen = true;
  void kept.code.then(() => (isOpen = false));
  const leftAt = performance.now();
  expect((await leave()).status).toBe(204);
  expect(await lost.code).toBe(4403);
  expect(performance.now() - leftAt).toBeLessThan(endsWithinMs);
  expect(isOpen).toBe(true);
});

/** How an admin loses the right to manage the team. */
const losses: [string, (team: Awaited<ReturnType<typeof crew>>) => Promise<{ status: number }>][] = [
  ['a removed admin', ({ leave }) => leave()],
  ['an admin who leaves', ({ member, id }) => member.delete(`/api/teams/${id}/members/${member.id}`)],
  [
    'a demoted admin',
    ({ owner, member, id }) => owner.patch(`/api/teams/${id}/members/${member.id}`, { role: 'member' }),
  ],
];

test.each(losses)('topic tokens of %s end with their streams, tokens of others stay valid', async (_, lose) => {
  const team = await crew();
  const { owner, member, open, closed } = team;
  const own = await createTopic(member, { access_level: 'private' });
  const tokenOf = async (person: typeof owner, name: string) =>
    (await person.post(`/api/topics/${name}/access-tokens`, { name: 't', permissions: ['read', 'write'] })).body.token;
  const lost = [await tokenOf(member, closed.name), await tokenOf(member, open.name)];
  const kept = await tokenOf(owner, closed.name);
  const keptOwn = await tokenOf(member, own.name);
  const stream = await openStream(`/${closed.name}/ws?token=${lost[0]}`);
  expect((await lose(team)).status).toBeLessThan(300);
  expect(await stream.code).toBe(4401);
  const publish = (token: string, name: string) => stack.caller({ 'X-Topic-Token': token }).publish(name);
  for (const answer of [await publish(lost[0]!, closed.name), await publish(lost[1]!, open.name)])
    expect(answer).toMatchObject({ status: 401, body: { detail: 'Could not validate credentials' } });
  expect((await publish(kept, closed.name)).status).toBe(200);
  expect((await publish(keptOwn, own.name)).status).toBe(200);
  expect((await owner.get(`/api/topics/${closed.name}/access-tokens`)).body).toMatchObject([{ created_by: owner.id }]);
});

test('topic tokens that admins created end with the team, those of the owner stay valid', async () => {
  const { owner, member, id, closed } = await crew();
  const tokenOf = async (person: typeof owner) =>
    (await person.post(`/api/topics/${closed.name}/access-tokens`, { name: 't', permissions: ['write'] })).body.token;
  const [lost, kept] = [await tokenOf(member), await tokenOf(owner)];
  expect((await owner.delete(`/api/teams/${id}`)).status).toBe(204);
  const publish = (token: string) => stack.caller({ 'X-Topic-Token': token }).publish(closed.name);
  expect((await publish(lost)).status).toBe(401);
  expect((await publish(kept)).status).toBe(200);
});

test.each(losses)('sinks that %s created are paused, those of others stay active', async (_, lose) => {
  const team = await crew();
  const { owner, member, closed } = team;
  const sinkOf = (person: typeof owner) =>
    made(
      person.post(`/api/topics/${closed.id}/sinks`, { name: 's', kind: 'webhook', url: 'https://hooks.example.com/' }),
    );
  const [lost, kept] = [await sinkOf(member), await sinkOf(owner)];
  expect((await lose(team)).status).toBeLessThan(300);
  expect((await owner.get(`/api/topics/${closed.id}/sinks`)).body).toMatchObject([
    { id: lost.id, state: 'paused', state_reason: 'Its creator does not manage the topic any more' },
    { id: kept.id, state: 'active' },
  ]);
});

test.each(losses)('invites that %s sent are void, invites of others stay valid', async (_, lose) => {
  const team = await crew();
  const { owner, member, id } = team;
  const [invited, kept] = [await stack.person(), await stack.person()];
  const invite = async (by: typeof owner, { email }: typeof owner) => {
    expect((await by.post(`/api/teams/${id}/invites`, { email, role: 'admin' })).status).toBe(201);
    return (await mailedLink(email, 'team-invite')).hash.slice('#token='.length);
  };
  const [voided, valid] = [await invite(member, invited), await invite(owner, kept)];
  expect((await lose(team)).status).toBeLessThan(300);
  expect(await invited.post('/api/teams/invites/accept', { token: voided })).toMatchObject({
    status: 400,
    body: { detail: 'Invalid or used token' },
  });
  expect((await owner.get(`/api/teams/${id}/invites`)).body).toMatchObject([{ email: kept.email }]);
  expect((await kept.post('/api/teams/invites/accept', { token: valid })).status).toBe(200);
});

test('a lowered role applies immediately on every node', async () => {
  const { owner, member, id, closed } = await crew();
  await owner.patch(`/api/teams/${id}/members/${member.id}`, { role: 'member' });
  expect((await member.patch(`/api/topics/${closed.id}`, {})).status).toBe(403);
  expect((await member.publish(closed.name)).status).toBe(200);
});
