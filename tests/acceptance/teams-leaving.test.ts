import { expect, test } from '@jest/globals';
import { openStream } from '../support/open-stream.ts';
import { createTopic } from '../support/stack.ts';
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

test('topic tokens of a removed member stay valid', async () => {
  const { member, closed, leave } = await crew();
  const { token } = (
    await member.post(`/api/topics/${closed.name}/access-tokens`, { name: 't', permissions: ['read', 'write'] })
  ).body;
  expect((await leave()).status).toBe(204);
  expect((await stack.caller({ 'X-Topic-Token': token }).publish(closed.name)).status).toBe(200);
});

test('a lowered role applies immediately on every node', async () => {
  const { owner, member, id, closed } = await crew();
  await owner.patch(`/api/teams/${id}/members/${member.id}`, { role: 'member' });
  expect((await member.patch(`/api/topics/${closed.id}`, {})).status).toBe(403);
  expect((await member.publish(closed.name)).status).toBe(200);
});
