import { describe, expect, test } from '@jest/globals';
import { auditActions, type AuditAction } from '@tocsin/shared/domain/audit/audit-actions.ts';
import { findUserByEmail } from '@tocsin/shared/collections/users.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { insertTeam } from '../support/arrange-by-store.ts';
import { archiveActs } from '../support/archive-acts.ts';
import { account, inTeam, inTopic, type Recorded } from '../support/audit-entries.ts';
import { by, byCommand, byNobody, byOperator, bySystem } from '../support/audit-sources.ts';
import { mailedLink } from '../support/mailbox.ts';
import { newRegistration } from '../support/registration.ts';
import { runCommand } from '../support/run-command.ts';
import { sinkActs } from '../support/sink-acts.ts';
import { Client, createTopic, made } from '../support/stack.ts';
import { topicSettingActs } from '../support/topic-setting-acts.ts';
import { useAuditLog, type Entry } from '../support/use-audit-log.ts';
import { useAuditSubjects } from '../support/use-audit-subjects.ts';
import { useStack } from '../support/use-stack.ts';
import { useStore } from '../support/use-store.ts';

const stack = useStack();
const store = useStore();
const { operator, logOf } = useAuditLog(stack);
const { teamOf, inviteOf, teamSubscriptionOf, keyOf, topicOf, tokenOf, policyOf, cancelledOf, acknowledgedOf } =
  useAuditSubjects(stack);

/**
 * One action of each kind: performs it and returns the expected log entry. A string names the test that covers it
 * instead.
 */
const acts: Readonly<Record<AuditAction, string | (() => Promise<Recorded>)>> = {
  'login.succeeded': async () => {
    const person = await stack.person();
    const [{ origin }] = (await logOf({ subject: person.id })) as [Entry];
    return {
      ...by(person, 'password'),
      origin: { ...origin, user_agent: 'node' },
      subject: account(person),
      details: { method: 'password' },
    };
  },
  'login.failed': async () => {
    const [person, stranger] = [await stack.person(), new Client()];
    expect(
      (await stranger.call('POST', '/auth/login', { json: { email: person.email, password: 'wrong' } })).status,
    ).toBe(401);
    return {
      ...byNobody(stranger.address),
      subject: account(person),
      details: { method: 'password', reason: 'wrong_password', further_unrecorded: false },
    };
  },
  'login.revoked': async () => {
    const [person, owner, client] = [await stack.person(), new Client(), new Client()];
    const { refresh_token: token } = await made(
      owner.call('POST', '/auth/login', { json: { email: person.email, password: person.password } }),
    );
    await made(owner.call('POST', '/auth/refresh', { json: { refresh_token: token } }));
    expect((await client.call('POST', '/auth/refresh', { json: { refresh_token: token } })).status).toBe(401);
    return {
      ...byNobody(client.address, 'refresh_token'),
      subject: account(person),
      details: { session_id: expect.stringMatching(/^[0-9a-f-]{36}$/) },
    };
  },
  'login.ended': async () => {
    const person = await stack.person();
    await made(person.post('/auth/logout'));
    return {
      ...by(person),
      subject: account(person),
      details: { session_id: expect.stringMatching(/^[0-9a-f-]{36}$/) },
    };
  },
  'password.check_failed': async () => {
    const person = await stack.person();
    expect(
      (await person.post('/auth/password-change', { current_password: 'wrong', new_password: 'a new password' }))
        .status,
    ).toBe(400);
    return { ...by(person), subject: account(person), details: { further_unrecorded: false } };
  },
  'password.changed': async () => {
    const person = await stack.person();
    await made(
      person.post('/auth/password-change', { current_password: person.password, new_password: 'a new password' }),
    );
    return { ...by(person), subject: account(person) };
  },
  'password.reset': async () => {
    const [person, client] = [await stack.person(), new Client()];
    await made(person.post('/auth/password-reset/request', { email: person.email }));
    const token = (await mailedLink(person.email, 'password-reset')).hash.slice('#token='.length);
    await made(
      client.call('POST', '/auth/password-reset/confirm', { json: { token, new_password: 'a new password' } }),
    );
    const { actor } = by(person, 'mail_link');
    return {
      actor: { ...actor, credential_id: null },
      origin: { address: client.address, user_agent: 'node' },
      subject: account(person),
    };
  },
  'identity.linked': 'tests/installations/apple-sign-in.test.ts',
  'password.set': 'tests/installations/operator-commands.test.ts',
  'account.logins_ended': 'tests/installations/operator-commands.test.ts',
  'account.created': async () => {
    const [registration, client] = [newRegistration(), new Client()];
    await made(client.call('POST', '/auth/register', { json: registration }));
    const { id, username } = (await findUserByEmail(store.documents(), registration.email))!;
    return {
      ...byNobody(client.address),
      subject: { type: 'account', id, name: username },
      details: { method: 'password' },
    };
  },
  'operator.refused': 'tests/acceptance/audit-refusals.test.ts',
  'account.verified': async () => {
    const [registration, client] = [newRegistration(), new Client()];
    await made(client.call('POST', '/auth/register', { json: registration }));
    const { id, username: name } = (await findUserByEmail(store.documents(), registration.email))!;
    const link = await mailedLink(registration.email, 'verify-email');
    expect((await client.call('HEAD', link.pathname + link.search)).status).toBe(302);
    expect((await client.call('GET', link.pathname + link.search)).headers.get('location')).toContain('status=success');
    expect((await client.call('GET', link.pathname + link.search)).headers.get('location')).toContain('status=error');
    return {
      actor: { type: 'account', id, name, through: 'mail_link', credential_id: null },
      origin: { address: client.address, user_agent: 'node' },
      subject: { type: 'account', id, name },
    };
  },
  'account.username_changed': async () => {
    const person = await stack.person();
    const { username: name } = newRegistration();
    for (const _ of [1, 2]) await made(person.patch('/api/users/me', { username: name }));
    const { actor, origin } = by(person);
    return { actor: { ...actor, name }, origin, subject: { type: 'account', id: person.id, name } };
  },
  'account.email_changed': async () => {
    const person = await stack.person();
    await made(person.patch('/api/users/me', { email: newRegistration().email }));
    return { ...by(person), subject: account(person), details: { former_email: person.email } };
  },
  'account.email_change_undone': 'tests/engines/email-change.test.ts',
  'account.deleted': async () => {
    const person = await stack.person();
    await made(person.delete('/api/users/me', { password: person.password }));
    // The origin is personal data and is erased with the account.
    await eventually(async () =>
      expect((await logOf({ actor: person.id })).map(({ origin }) => origin.address)).toEqual([null, null]),
    );
    const { actor } = by(person);
    return {
      actor: { ...actor, name: null },
      origin: { address: null, user_agent: null },
      subject: { type: 'account', id: person.id, name: null },
      details: { reason: 'request' },
    };
  },
  'account.tier_changed': async () => {
    const person = await stack.person();
    await made(
      operator.put(`/admin/users/${person.email}/tier`, {
        tier: 'TEAM',
        expires_at: '2100-01-01',
        additional_members: 3,
      }),
    );
    return {
      ...byOperator,
      subject: account(person),
      details: { tier: 'TEAM', former_tier: 'FREE', expires_at: '2100-01-01T00:00:00.000Z', additional_members: 3 },
    };
  },
  'account.disabled': async () => {
    const person = await stack.person();
    await runCommand(['user', 'disable', person.email]);
    return { ...byCommand, subject: account(person) };
  },
  'account.enabled': async () => {
    const person = await stack.person();
    await runCommand(['user', 'enable', person.email]);
    return { ...byCommand, subject: account(person) };
  },
  'api_key.created': async () => {
    const person = await stack.person();
    const { id } = await made(
      person.post('/api/keys', { name: 'ci', scopes: ['publish', 'subscribe'], expires_at: '2100-01-01' }),
    );
    return {
      ...by(person),
      subject: { type: 'api_key', id, name: 'ci' },
      details: { scopes: ['publish', 'subscribe'], expires_at: '2100-01-01T00:00:00.000Z' },
    };
  },
  'api_key.revoked': async () => {
    const { person, key } = await keyOf();
    await made(person.post(`/api/keys/${key.id}/revoke`));
    await made(person.post(`/api/keys/${key.id}/revoke`));
    return { ...by(person), subject: key };
  },
  'api_key.enabled': async () => {
    const { person, key } = await keyOf();
    await made(person.post(`/api/keys/${key.id}/revoke`));
    await made(person.post(`/api/keys/${key.id}/enable`));
    return { ...by(person), subject: key };
  },
  'api_key.deleted': async () => {
    const { person, key, secret } = await keyOf();
    const caller = new Client(secret);
    await made(caller.call('DELETE', `/api/keys/${key.id}`));
    return { ...by(person, 'api_key'), origin: { address: caller.address, user_agent: 'node' }, subject: key };
  },
  'topic_token.created': async () => {
    const { person, topic, token } = await tokenOf();
    return {
      ...by(person),
      subject: token,
      within: inTopic(topic),
      details: { permissions: ['read'], expires_at: null },
    };
  },
  'topic_token.deleted': async () => {
    const { person, topic, token } = await tokenOf();
    await made(person.delete(`/api/topics/${topic.name}/access-tokens/${token.id}`));
    return { ...by(person), subject: token, within: inTopic(topic) };
  },
  ...topicSettingActs(topicOf),
  'topic.escalation_set': () =>
    policyOf().then(({ person, topic }) => ({ ...by(person), subject: { type: 'topic', ...topic } })),
  'topic.escalation_removed': async () => {
    const { person, topic } = await policyOf();
    await made(person.delete(`/api/topics/${topic.id}/escalation`));
    return { ...by(person), subject: { type: 'topic', ...topic } };
  },
  ...sinkActs(topicOf),
  ...archiveActs(topicOf),
  'topic.deleted': async () => {
    const { owner, team } = await teamOf();
    const { id, name } = await createTopic(owner, { team_id: team.id });
    await made(owner.delete(`/api/topics/${id}`));
    return { ...by(owner), subject: { type: 'topic', id, name }, within: inTeam(team) };
  },
  'topic.held': async () => {
    const { topic } = await topicOf();
    for (let times = 0; times < 2; times++) await made(operator.put(`/admin/topics/${topic.name}/hold`));
    return { ...byOperator, subject: { type: 'topic', ...topic } };
  },
  'topic.held_messages_read': async () => {
    const { topic } = await topicOf();
    await made(operator.get(`/admin/topics/${topic.name}/held`));
    return { ...byOperator, subject: { type: 'topic', ...topic } };
  },
  'topic.released': async () => {
    const { topic } = await topicOf();
    await made(operator.put(`/admin/topics/${topic.name}/hold`));
    await made(operator.delete(`/admin/topics/${topic.name}/hold`));
    return { ...byOperator, subject: { type: 'topic', ...topic } };
  },
  'message.edited': async () => {
    const { person, topic } = await topicOf();
    const { id } = await made(stack.caller().publish(topic.name));
    await made(person.patch(`/api/${topic.name}/messages/${id}`, { message: 'another text' }));
    await made(person.patch(`/api/${topic.name}/messages/${id}`, {}));
    return { ...by(person), subject: { type: 'message', id, name: null }, within: inTopic(topic) };
  },
  'message.acknowledged': async () => {
    const { person, topic, message } = await acknowledgedOf();
    return { ...by(person), subject: message, within: inTopic(topic) };
  },
  'message.acknowledgement_withdrawn': async () => {
    const { person, topic, message } = await acknowledgedOf();
    for (let times = 0; times < 2; times++) await made(person.delete(`/api/messages/${message.id}/ack`));
    return { ...by(person), subject: message, within: inTopic(topic) };
  },
  'message.cancelled': async () => {
    const { person, topic, message } = await cancelledOf();
    return { ...by(person), subject: message, within: inTopic(topic) };
  },
  'message.deleted': async () => {
    const { person, topic } = await topicOf();
    const { id } = await made(stack.caller().publish(topic.name));
    await made(person.delete(`/api/${topic.name}/messages/${id}`));
    return { ...by(person), subject: { type: 'message', id, name: null }, within: inTopic(topic) };
  },
  'team.created': () => teamOf().then(({ owner, team }) => ({ ...by(owner), subject: team })),
  'team.invited': async () => {
    const { owner, team, invite } = await inviteOf();
    return {
      ...by(owner),
      subject: { type: 'team_invite', id: invite.id, name: null },
      within: inTeam(team),
      details: { role: 'admin' },
    };
  },
  'team.invite_cancelled': async () => {
    const { owner, team, invite } = await inviteOf();
    await made(owner.delete(`/api/teams/invites/${invite.id}`));
    return { ...by(owner), subject: { type: 'team_invite', id: invite.id, name: null }, within: inTeam(team) };
  },
  'team.subscription_created': async () => {
    const { owner, team, subject, topic } = await teamSubscriptionOf();
    const details = { topic_id: topic.id, for_all: true, mandatory: true };
    return { ...by(owner), subject, within: inTeam(team), details };
  },
  'team.subscription_ended': async () => {
    const { owner, team, subject, topic } = await teamSubscriptionOf();
    await made(owner.delete(`/api/teams/${team.id}/subscriptions/${subject.id}`));
    return { ...by(owner), subject, within: inTeam(team), details: { topic_id: topic.id } };
  },
  'team.member_added': async () => {
    const { team, invite, invitee } = await inviteOf();
    const token = (await mailedLink(invitee.email, 'team-invite')).hash.slice('#token='.length);
    await made(invitee.post('/api/teams/invites/accept', { token }));
    const details = { role: 'admin', invite_id: invite.id };
    return { ...by(invitee), subject: account(invitee), within: inTeam(team), details };
  },
  'team.role_changed': async () => {
    const { owner, team, member } = await teamOf();
    for (const role of ['admin', 'admin'])
      await made(owner.patch(`/api/teams/${team.id}/members/${member.id}`, { role }));
    return {
      ...by(owner),
      subject: account(member),
      within: inTeam(team),
      details: { role: 'admin', former_role: 'member' },
    };
  },
  'team.member_removed': async () => {
    const { team, member } = await teamOf();
    await made(member.delete(`/api/teams/${team.id}/members/${member.id}`));
    return { ...by(member), subject: account(member), within: inTeam(team) };
  },
  'team.lapsed': 'services/retention/lifecycle/lapse-teams.engines.test.ts',
  'team.deactivated': 'services/retention/lifecycle/lapse-teams.engines.test.ts',
  'team.reactivated': async () => {
    const owner = await stack.person({ tier: 'TEAM' });
    const id = await insertTeam(store.documents(), owner, { isActive: false });
    for (let times = 0; times < 2; times += 1) await made(owner.post(`/api/teams/${id}/reactivate`));
    return { ...by(owner), subject: { type: 'team', id, name: id } };
  },
  'team.deleted': async () => {
    const { owner, team } = await teamOf();
    const topic = await createTopic(owner, { team_id: team.id });
    await made(owner.delete(`/api/teams/${team.id}?delete_topics=true`));
    // Actions that follow from it are recorded as Tocsin's own.
    expect(await logOf({ subject: topic.id })).toMatchObject([
      { action: 'topic.deleted', within: inTeam(team), ...bySystem },
    ]);
    return { ...by(owner), subject: team, details: { topics: 'erase', reason: 'request' } };
  },
  'retention.run_requested': 'tests/installations/expiry.test.ts',
  'retention.plan_confirmed': 'services/retention/messages/expire-messages.engines.test.ts',
  'retention.paused': 'tests/installations/expiry.test.ts',
  'retention.resumed': 'tests/installations/expiry.test.ts',
  'push.redriven': async () => {
    const { topic } = await topicOf();
    await made(operator.post('/admin/push/dead-letters/redrive', { topic: topic.name }));
    return { ...byOperator, subject: { type: 'topic', ...topic }, details: { message_id: null } };
  },
  'push.renotified': async () => {
    const { person, topic } = await topicOf();
    const { id } = await made(person.publish(topic.name));
    await made(person.post(`/api/messages/${id}/renotify`));
    return { ...by(person), subject: { type: 'topic', ...topic }, details: { message_id: id, from: null, to: null } };
  },
};

describe('the audit log records who did what, when and from where', () => {
  const here = Object.entries(acts).filter(
    (row): row is [AuditAction, () => Promise<Recorded>] => typeof row[1] !== 'string',
  );

  test.each(here)('%s', async (action, act) => {
    const begun = Date.now();
    const { within = null, details = {}, ...recorded } = await act();
    const entries = await logOf({ action, subject: recorded.subject.id });
    expect(entries).toEqual([
      {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        timestamp: expect.stringMatching(/Z$/),
        action,
        within,
        details,
        count: 1,
        ...recorded,
      },
    ]);
    expect(Math.abs(Date.parse(entries[0].timestamp) - begun)).toBeLessThan(60_000);
    // The details of an action are exactly those in the table.
    const told = Object.keys(auditActions[action].details);
    expect(Object.keys(details).sort()).toEqual(
      [...told, ...(action === 'account.email_changed' ? ['former_email'] : [])].sort(),
    );
  });
});
