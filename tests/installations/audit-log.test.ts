import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { bySystem } from '../support/audit-sources.ts';
import { mailedLink } from '../support/mailbox.ts';
import { runCommand, startCommand } from '../support/run-command.ts';
import { Client, createTopic, made } from '../support/stack.ts';
import { useAuditLog, type Entry } from '../support/use-audit-log.ts';
import { useAuditSubjects } from '../support/use-audit-subjects.ts';
import { useStack, type Person } from '../support/use-stack.ts';

const stack = useStack();
const { adminToken, operator, logOf } = useAuditLog(stack);
const { teamOf, inviteOf, topicOf } = useAuditSubjects(stack);

/** The output of `tocsin …`. */
const command = async (...args: string[]) => (await runCommand(args)).out;

describe('the audit log', () => {
  let person: Person;
  let ids: string[];
  beforeAll(async () => {
    person = await stack.person();
    ids = [];
    for (const name of ['one', 'two', 'three']) ids.push((await made(person.post('/api/keys', { name }))).id);
  });
  const keysOf = (entries: readonly Entry[]) => entries.map(({ subject }) => subject.id);

  test('is paginated newest first and filtered by actor', async () => {
    const read: Entry[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const { status, body } = await operator.get(
        `/admin/audit?actor=${person.id}&limit=1${cursor === '' ? '' : `&cursor=${cursor}`}`,
      );
      expect(status).toBe(200);
      read.push(...body.entries);
      cursor = body.next_cursor;
    }
    expect(keysOf(read)).toEqual([...ids.toReversed(), person.id]);
    expect(await logOf({ actor: person.email })).toEqual(read);
    expect(await logOf({ actor: person.id, action: 'api_key.created', until: read[1].timestamp })).toEqual(
      read.slice(1, 3),
    );
    expect(await logOf({ actor: person.id, since: read[1].timestamp })).toEqual(read.slice(0, 2));
    expect(keysOf(await logOf({ actor: person.id, limit: '2' }))).toEqual([ids[2], ids[1]]);
  });

  test('is printed by the command', async () => {
    const entries = await logOf({ actor: person.id });
    expect(await command('audit', '--actor', person.email, '--json')).toBe(
      entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''),
    );
    const lines = await command(
      'audit',
      '--actor',
      person.id,
      '--action',
      'api_key.created',
      '--since',
      entries[1].timestamp,
      '--limit',
      '1',
    );
    expect(lines).toBe(
      `${entries[0].timestamp}  api_key.created  ${person.user.username} (login)  api_key three  ${person.client.address}  scopes: *\n`,
    );
  });

  test('is followed by the command until it is terminated', async () => {
    const command = startCommand(['audit', '--actor', person.id, '--limit', '1', '--follow', '--json']);
    const lines: string[] = [];
    createInterface({ input: command.stdout }).on('line', (line) => lines.push(line));
    const ended = once(command, 'exit');
    await eventually(() => expect(lines).toHaveLength(1));
    for (const id of ids.slice(0, 2)) await made(person.post(`/api/keys/${id}/revoke`));
    await eventually(() => expect(lines).toHaveLength(3));
    expect(lines.map((line) => JSON.parse(line).subject.id)).toEqual([ids[2], ids[0], ids[1]]);
    command.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
  });

  test('refuses contradictory filters and callers other than the operator', async () => {
    const refused = (detail: unknown) => ({ status: 422, body: { detail } });
    expect(await operator.get('/admin/audit?since=2030-01-02&until=2030-01-01')).toMatchObject(
      refused('since: must not be after until'),
    );
    expect(await operator.get('/admin/audit?actor=somebody')).toMatchObject(
      refused(expect.stringContaining('actor: must be')),
    );
    expect(await operator.get('/admin/audit?action=nothing')).toMatchObject(refused(expect.stringContaining('action')));
    expect(await operator.get('/admin/audit?actor=nobody@example.org')).toMatchObject({
      status: 404,
      body: { detail: 'User not found' },
    });
    expect(await stack.caller().get('/admin/audit')).toMatchObject({
      status: 401,
      body: { detail: 'Not authenticated' },
    });
    expect(await person.get('/admin/audit')).toMatchObject({
      status: 401,
      body: { detail: 'Could not validate credentials' },
    });
  });

  test('records what is deleted with an account: topics, teams and memberships', async () => {
    const { owner, member, team } = await teamOf();
    const topic = await createTopic(owner);
    const other = await stack.team(member, [[owner, 'admin']]);
    await made(owner.delete('/api/users/me', { password: owner.password }));
    await eventually(async () => {
      expect(await logOf({ subject: topic.id })).toMatchObject([
        { action: 'topic.deleted', within: { type: 'account', id: owner.id }, ...bySystem },
      ]);
      expect((await logOf({ subject: team.id }))[0]).toMatchObject({
        action: 'team.deleted',
        details: { topics: 'erase', reason: 'account_deleted' },
        ...bySystem,
      });
      expect(await logOf({ subject: other })).toMatchObject([
        { action: 'team.member_removed', subject: { type: 'account', id: owner.id, name: null }, ...bySystem },
      ]);
    });
  });

  test('contains no secrets, no emails except previous ones, and no message texts', async () => {
    const { owner, team, invitee } = await inviteOf();
    const topic = await createTopic(owner);
    const text = `text ${randomUUID()}`;
    const { id } = await made(owner.publish(topic.name, text));
    const { key } = await made(owner.post('/api/keys', { name: 'k' }));
    const { token } = await made(
      owner.post(`/api/topics/${topic.name}/access-tokens`, { name: 't', permissions: ['write'] }),
    );
    const login = await made(stack.caller().post('/auth/login', { email: owner.email, password: owner.password }));
    const guess = randomUUID();
    await stack.caller().post('/auth/login', { email: owner.email, password: guess });
    await made(new Client(key as string).call('DELETE', `/api/${topic.name}/messages/${id}`));
    await made(operator.put(`/admin/users/${owner.email}/tier`, { tier: 'TEAM' }));
    const filters: Record<string, string>[] = [
      { actor: owner.id },
      { subject: owner.id },
      { subject: team.id },
      { subject: topic.id },
    ];
    const read = (await Promise.all(filters.map(logOf))).flat();
    expect(read.length).toBeGreaterThan(12);
    const inviteToken = (await mailedLink(invitee.email, 'team-invite')).hash.slice('#token='.length);
    for (const secret of [
      key,
      token,
      login.access_token,
      login.refresh_token,
      owner.password,
      guess,
      adminToken,
      inviteToken,
      text,
      owner.email,
      invitee.email,
    ]) {
      expect(secret.length).toBeGreaterThan(8);
      expect(JSON.stringify(read)).not.toContain(secret);
    }
  });

  test('has no entries for refused requests, requests without effect, and publishes', async () => {
    const { person: owner, topic } = await topicOf();
    const before = await logOf({ actor: owner.id });
    expect((await owner.publish(topic.name)).status).toBe(200);
    expect((await owner.post('/api/keys', { name: 'k', scopes: ['nothing'] })).status).toBe(422);
    expect(
      (await person.post(`/api/topics/${topic.name}/access-tokens`, { name: 't', permissions: ['read'] })).status,
    ).toBe(403);
    expect((await owner.patch('/api/users/me', { email: owner.email })).status).toBe(200);
    expect(await logOf({ actor: owner.id })).toEqual(before);
    expect((await logOf({ subject: topic.id })).map(({ action }) => action)).toEqual([]);
  });
});
