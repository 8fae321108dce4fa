import { randomUUID } from 'node:crypto';
import { addressChanges } from '@tocsin/shared/collections/address-changes.ts';
import { identities } from '@tocsin/shared/collections/identities.ts';
import type { Documents } from '@tocsin/shared/ports/documents.ts';
import { newRegistration } from './registration.ts';
import { made, newTopicName } from './stack.ts';
import type { Person, StackUse } from './use-stack.ts';

/** An account that has used every feature, and another account with related objects. */
export interface FullAccount {
  readonly owner: Person;
  readonly other: Person;
  /** The owner's public topic with two messages, to which the other account is subscribed. */
  readonly topic: { readonly id: string; readonly name: string };
  readonly teamTopic: { readonly id: string; readonly name: string };
  readonly otherTopic: { readonly id: string; readonly name: string };
  /** The owner's team, of which the other account is a member. */
  readonly teamId: string;
  /** The other account's team, of which the owner is an admin. */
  readonly otherTeamId: string;
  readonly key: string;
  readonly topicToken: string;
  /** Published texts that appear only in these messages. */
  readonly texts: readonly string[];
  /** Texts of messages that wait for their time, in the owner's topic and in the other account's. */
  readonly waitingTexts: readonly string[];
}

/** Makes a full account over HTTP. With `documents`, also adds the parts that have no endpoint. */
export async function makeFullAccount(stack: StackUse, documents?: Documents): Promise<FullAccount> {
  const [owner, other] = [await stack.person({ tier: 'TEAM' }), await stack.person({ tier: 'TEAM' })];
  const teamId = await stack.team(owner, [[other, 'member']]);
  const otherTeamId = await stack.team(other, [[owner, 'admin']]);
  const topic = await made(
    owner.post('/api/topics', { name: newTopicName(), description: 'mine', is_discoverable: true }),
  );
  const teamTopic = await made(
    owner.post('/api/topics', { name: newTopicName(), access_level: 'private', team_id: teamId }),
  );
  const otherTopic = await made(other.post('/api/topics', { name: newTopicName() }));
  const texts = [`first ${randomUUID()}`, `second ${randomUUID()}`, `of the team ${randomUUID()}`];
  await made(owner.publish(topic.name, texts[0]));
  await made(
    owner.client.call('POST', `/${topic.name}`, { text: texts[1]!, headers: { 'Idempotency-Key': randomUUID() } }),
  );
  await made(owner.publish(teamTopic.name, texts[2]));
  await made(owner.publish(otherTopic.name, 'to somebody else'));
  const waitingTexts = [`in an hour ${randomUUID()}`, `in two hours ${randomUUID()}`];
  await made(owner.post('/', { topic: topic.name, message: waitingTexts[0], delay: '1h' }));
  await made(owner.post('/', { topic: otherTopic.name, message: waitingTexts[1], delay: '2h' }));
  const { key } = await made(owner.post('/api/keys', { name: 'ci' }));
  const { token: topicToken } = await made(
    owner.post(`/api/topics/${topic.name}/access-tokens`, { name: 'reader', permissions: ['read'] }),
  );
  await made(owner.post('/api/devices/register', { platform: 'ios', push_token: randomUUID(), device_id: 'a phone' }));
  await made(owner.post('/api/subscriptions', { topic_name: otherTopic.name }));
  await made(owner.post('/api/subscriptions', { topic_name: topic.name }));
  await made(other.post('/api/subscriptions', { topic_name: topic.name }));
  await made(owner.put(`/api/topics/${otherTopic.name}/consumers/mine`, { offset: 0 }));
  await made(owner.post('/auth/accept-terms', { accepted: true, consent_method: 'web_checkbox' }));
  await made(owner.post('/auth/password-reset/request', { email: owner.email }));
  if (documents !== undefined) await addStoredParts(documents, owner.id);
  return { owner, other, topic, teamTopic, otherTopic, teamId, otherTeamId, key, topicToken, texts, waitingTexts };
}

/** Adds what an account has only after a login at a provider or a change of its address: a link and an old address. */
async function addStoredParts(documents: Documents, userId: string): Promise<void> {
  const now = Date.now();
  const subject = randomUUID();
  await documents.insert(identities, { id: randomUUID(), provider: 'google', subject, userId, linkedAt: now });
  const { email: oldEmail } = newRegistration();
  await documents.insert(addressChanges, {
    id: randomUUID(),
    userId,
    oldEmail,
    passwordHash: null,
    tokenHash: null,
    changedAt: now,
  });
}
