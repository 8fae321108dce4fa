import { randomUUID } from 'node:crypto';
import { createTopic, made } from './stack.ts';
import type { StackUse } from './use-stack.ts';

/** Functions that create the things that the audit log records actions on. */
export function useAuditSubjects(stack: StackUse) {
  /** A team created by its owner, with a member. */
  async function teamOf() {
    const [owner, member] = [await stack.person({ tier: 'TEAM' }), await stack.person()];
    const name = `t-${randomUUID().slice(0, 8)}`;
    const { id } = await made(owner.post('/api/teams', { name, display_name: 'A team' }));
    await stack.join(id, owner, [member, 'member']);
    return { owner, member, team: { type: 'team', id: id as string, name } };
  }

  async function inviteOf() {
    const [{ owner, team }, invitee] = [await teamOf(), await stack.person()];
    const invite = await made(owner.post(`/api/teams/${team.id}/invites`, { email: invitee.email, role: 'admin' }));
    return { owner, team, invitee, invite: { id: invite.id as string } };
  }

  /** A mandatory subscription of all members to a new topic of a team. */
  async function teamSubscriptionOf() {
    const { owner, team } = await teamOf();
    const topic = await createTopic(owner, { team_id: team.id });
    const json = { topic_name: topic.name, members: 'all', mandatory: true };
    const { id } = await made(owner.post(`/api/teams/${team.id}/subscriptions`, json));
    return { owner, team, topic, subject: { type: 'team_subscription', id: id as string, name: null } };
  }

  async function keyOf() {
    const person = await stack.person();
    const { id, key: secret } = await made(person.post('/api/keys', { name: 'ci' }));
    return { person, key: { type: 'api_key', id, name: 'ci' }, secret: secret as string };
  }

  async function topicOf() {
    const person = await stack.person({ tier: 'TEAM' });
    const { id, name } = await createTopic(person);
    return { person, topic: { id, name } };
  }

  async function tokenOf() {
    const { person, topic } = await topicOf();
    const { id } = await made(
      person.post(`/api/topics/${topic.name}/access-tokens`, { name: 'reader', permissions: ['read'] }),
    );
    return { person, topic, token: { type: 'topic_token', id, name: 'reader' } };
  }

  async function policyOf() {
    const { person, topic } = await topicOf();
    const json = { min_priority: 5, repeat_every: '2m', repeat_max: 5 };
    await made(person.put(`/api/topics/${topic.id}/escalation`, json));
    return { person, topic };
  }

  /** A scheduled message that was cancelled twice. */
  async function cancelledOf() {
    const { person, topic } = await topicOf();
    const { id } = await made(person.post('/', { topic: topic.name, message: 'x', delay: '1h' }));
    for (let times = 0; times < 2; times++) await made(person.delete(`/api/messages/scheduled/${id}`));
    return { person, topic, message: { type: 'message', id: id as string, name: null } };
  }

  async function acknowledgedOf() {
    const { person, topic } = await topicOf();
    const { id } = await made(person.publish(topic.name));
    for (let times = 0; times < 2; times++) await made(person.post(`/api/messages/${id}/ack`, {}));
    return { person, topic, message: { type: 'message', id: id as string, name: null } };
  }

  return { teamOf, inviteOf, teamSubscriptionOf, keyOf, topicOf, tokenOf, policyOf, cancelledOf, acknowledgedOf };
}
