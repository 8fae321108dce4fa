import { expect, test } from '@jest/globals';
import type { User } from '../../domain/accounts/user.ts';
import { write, type Collection, type Document } from '../../ports/documents.ts';
import {
  newClaim,
  newConsumer,
  newDevice,
  newId,
  newLogin,
  newMember,
  newMessage,
  newPolicy,
  newScheduledMessage,
  newSubscription,
  newTeam,
  newTopic,
  newUser,
  testAudit,
} from '../../testing/builders.ts';
import { publish } from '../../testing/test-engine.ts';
import { useTestEngine } from '../../testing/use-test-engine.ts';
import { accountErasures } from '../../collections/account-erasures.ts';
import { removeUnverified } from './accounts.ts';
import { addressChanges } from '../../collections/address-changes.ts';
import { auditEntries, auditOrigins } from '../../collections/audit-log.ts';
import { collections } from '../../collections/collections.ts';
import { consents } from '../../collections/consents.ts';
import { apiKeys, loginSessions, topicTokens } from '../../collections/credentials.ts';
import { newEscalation } from '../escalation/escalation-times.ts';
import { escalationAccounts, escalations } from '../../collections/escalation/escalations.ts';
import { devices } from '../../collections/devices-collection.ts';
import { eraseAccount, findErasures, type EraseAccountDeps } from './erase-account.ts';
import { identities } from '../../collections/identities.ts';
import { knownNetworks } from '../../collections/known-networks.ts';
import { logConsumers } from '../../collections/log-consumers.ts';
import { mailTokens } from '../../collections/mail-tokens.ts';
import { removeAccount } from './remove-account.ts';
import type { RemovalStep } from '../teams/remove-team.ts';
import { quotaGuards } from '../../collections/quota-guards.ts';
import { registrations } from '../../collections/registrations.ts';
import { subscriptions, teamSubscriptionMembers } from '../../collections/subscriptions-collection.ts';
import { scheduledMessages } from '../../collections/messages/scheduled-messages.ts';
import { teamInvites } from '../../collections/team-invites.ts';
import { teamMembers, teams } from '../../collections/teams.ts';
import { topicCleanups } from '../../collections/topic-cleanups.ts';
import { topics } from '../../collections/topics.ts';
import { users } from '../../collections/users.ts';
import { handledFields } from './handled-fields.fixtures.ts';

const engine = await useTestEngine();

const batchesMax = 1_000;
/** The default configuration. */
const lateWritesMs = 60_000;

function deps(onStep: (step: RemovalStep) => void = () => undefined): EraseAccountDeps {
  const { documents, deliveries, messages } = engine;
  return {
    documents,
    deliveries,
    messages,
    archive: null,
    makeId: newId,
    clock: () => Date.now(),
    audit: testAudit,
    onStep: async (step) => onStep(step),
  };
}

/**
 * Creates an account with at least one document of every kind that can contain its ID, and other accounts whose data
 * must stay.
 */
async function accountWithData(): Promise<{
  user: User;
  foreign: { topicId: string; teamId: string; inviteId: string };
}> {
  const { documents, deliveries } = engine;
  const [user, other] = [await documents.insert(users, newUser()), await documents.insert(users, newUser())];
  const userId = user.id;
  const insert = <T extends Document>(collection: Collection<T>, document: Omit<T, 'version'>) =>
    documents.insert(collection, document);
  const team = await insert(teams, newTeam(userId));
  const foreignTeam = await insert(teams, newTeam(other.id));
  const to = { kind: 'users', userIds: [other.id, userId], teamRole: null } as const;
  const escalation = newPolicy({ steps: [{ afterMs: 60_000, to }], setBy: userId });
  const foreignTopic = await insert(topics, newTopic(other.id, { subscriberCount: 2, escalation }));
  await insert(escalations, {
    ...newEscalation(newMessage(foreignTopic.id), null, { now: 1, ackKey: 'k' }),
    acknowledgement: { at: 1, by: { kind: 'account', name: user.username, accountId: userId }, note: null },
    ackUserId: userId,
  });
  await insert(escalationAccounts, { id: newId(), topicId: foreignTopic.id, userId });
  await documents.commit(Array.from({ length: 120 }, () => write.insert(topics, newTopic(userId))));
  const topic = await insert(topics, newTopic(userId, { teamId: team.id }));
  await publish(engine, topic, newMessage(topic.id));
  for (const member of [
    newMember(team.id, userId, 'owner'),
    newMember(team.id, other.id),
    newMember(foreignTeam.id, userId, 'admin'),
  ])
    await insert(teamMembers, member);
  for (const holder of [userId, other.id]) await insert(subscriptions, newSubscription(holder, foreignTopic.id));
  await insert(subscriptions, newSubscription(userId, topic.id));
  await insert(devices, newDevice(userId));
  const naming = { id: newId(), teamSubscriptionId: newId(), teamId: foreignTeam.id, userId };
  await insert(teamSubscriptionMembers, naming);
  await insert(scheduledMessages, newScheduledMessage(topic));
  await insert(scheduledMessages, { ...newScheduledMessage(foreignTopic), guestId: userId, holderId: userId });
  await insert(quotaGuards, { id: userId });
  await insert(apiKeys, {
    id: newId(),
    userId,
    name: 'k',
    description: null,
    secretHash: newId(),
    keyPrefix: 'toc_',
    scopes: ['*'],
    isActive: true,
    createdAt: 1,
    expiresAt: null,
    lastUsedAt: null,
    requestCount: 0,
  });
  for (const topicId of [topic.id, foreignTopic.id]) {
    await insert(topicTokens, {
      id: newId(),
      topicId,
      createdBy: userId,
      name: 't',
      secretHash: newId(),
      permissions: ['read'],
      createdAt: 1,
      expiresAt: null,
      lastUsedAt: null,
    });
    await insert(logConsumers, newConsumer({ topicId, name: 'c', offset: 0 }, { ownerId: userId, updatedAt: 1 }));
  }
  await documents.commit(Array.from({ length: 150 }, () => write.insert(loginSessions, newLogin(userId))));
  await insert(consents, {
    id: newId(),
    userId,
    consentType: 'tos',
    documentVersion: '1',
    acceptedAt: 1,
    consentMethod: 'web_checkbox',
    isActive: true,
  });
  await insert(mailTokens, {
    id: newId(),
    purpose: 'password-reset',
    userId,
    email: user.email,
    tokenHash: newId(),
    expiresAt: 1,
  });
  await insert(addressChanges, {
    id: newId(),
    userId,
    oldEmail: 'old@example.org',
    passwordHash: null,
    tokenHash: null,
    changedAt: 1,
  });
  await insert(identities, { id: newId(), provider: 'google', subject: newId(), userId, linkedAt: 1 });
  await insert(auditOrigins, {
    id: newId(),
    at: 1,
    userId,
    address: '192.0.2.1',
    userAgent: 'curl',
    formerEmail: null,
  });
  await insert(knownNetworks, { id: newId(), userId, seenAt: 1 });
  await insert(registrations, {
    id: newId(),
    email: user.email,
    username: 'u',
    usernameKey: 'u',
    passwordHash: newId(),
    termsVersion: '1',
    createdAt: 1,
    tokenHash: null,
    tokenExpiresAt: null,
  });
  const invite = (email: string, invitedById: string) =>
    insert(teamInvites, {
      id: newId(),
      teamId: foreignTeam.id,
      email,
      role: 'member',
      invitedById,
      tokenHash: newId(),
      createdAt: 1,
      expiresAt: 2,
    });
  await invite(user.email, other.id);
  await invite(newUser().email, userId);
  const kept = await invite(newUser().email, other.id);
  await deliveries.claim([newClaim(newId(), { topicId: foreignTopic.id, userId })], { now: 1, staleAfterMs: 1 });
  return { user, foreign: { topicId: foreignTopic.id, teamId: foreignTeam.id, inviteId: kept.id } };
}

test('handles every field that can contain an account ID or address', () => {
  const naming = collections.flatMap(({ name, fields }) =>
    Object.keys(fields)
      .filter(
        (field) =>
          /user|owner|guest|email|address|creat(ed)?By|invitedBy|author|holder/i.test(field) &&
          fields[field as keyof typeof fields] === 'text' &&
          !/^username/.test(field),
      )
      .map((field) => `${name}.${field}`),
  );
  expect(naming.sort()).toEqual(Object.keys(handledFields).sort());
});

/** Returns the documents of all collections that contain the text, except the audit log, which keeps IDs. */
async function holding(text: string): Promise<string[]> {
  const found: string[] = [];
  for (const collection of collections) {
    if (collection.name === auditEntries.name) continue;
    const index = Object.keys({ ...collection.uniqueKeys, ...collection.indexes })[0];
    const all =
      index === undefined ? [] : await engine.documents.find(collection, { index, equals: {}, limit: 10_000 });
    for (const document of all)
      if (JSON.stringify(document).includes(text)) found.push(`${collection.name} ${JSON.stringify(document)}`);
  }
  if ((await engine.documents.get(quotaGuards, text)) !== null) found.push('quotaGuards');
  return found;
}

async function expectOthersUnchanged({
  topicId,
  teamId,
  inviteId,
}: Awaited<ReturnType<typeof accountWithData>>['foreign']): Promise<void> {
  expect(await engine.documents.get(topics, topicId)).toMatchObject({
    subscriberCount: 1,
    escalation: { steps: [{ to: { userIds: [expect.any(String)] } }], setBy: null },
  });
  expect(await engine.documents.get(teams, teamId)).not.toBeNull();
  expect(await engine.documents.get(teamInvites, inviteId)).not.toBeNull();
}

test('removes all data of a deleted account and no data of others', async () => {
  const { user, foreign } = await accountWithData();
  const owned = await engine.documents.find(topics, { index: 'byOwner', equals: { ownerId: user.id }, limit: 1_000 });
  const now = Date.now();
  await removeAccount(engine.documents, user, { now, audit: testAudit });
  const steps: RemovalStep[] = [];
  expect(
    await eraseAccount(
      deps((step) => steps.push(step)),
      user.id,
      { now, batchesMax, lateWritesMs },
    ),
  ).toMatchObject({ hasMore: false, keptObjects: 0 });
  expect(await findErasures(engine.documents, 10)).toContain(user.id);
  const changes = steps.flatMap((step) => step.changes.map(({ kind }) => kind));
  expect(changes.filter((kind) => kind === 'topic')).toHaveLength(121);
  expect(changes).toContain('team');
  // Messages are removed by the clean-ups of their topics.
  for (const { id: topicId } of owned)
    expect(await engine.documents.count(topicCleanups, { index: 'byTopic', equals: { topicId } })).toBe(1);

  // The rest of the account is removed once no late writes can arrive.
  expect(await eraseAccount(deps(), user.id, { now: now + lateWritesMs - 1, batchesMax, lateWritesMs })).toEqual({
    removed: 0,
    hasMore: false,
    keptObjects: 0,
  });
  await engine.documents.insert(consents, {
    id: newId(),
    userId: user.id,
    consentType: 'tos',
    documentVersion: '1',
    acceptedAt: 1,
    consentMethod: 'late',
    isActive: true,
  });
  expect(await eraseAccount(deps(), user.id, { now: now + lateWritesMs, batchesMax, lateWritesMs })).toEqual({
    removed: 1,
    hasMore: false,
    keptObjects: 0,
  });
  expect(await holding(user.id)).toEqual([]);
  expect(await holding(user.email)).toEqual([]);
  expect(await engine.deliveries.removeOfUser(user.id, 10)).toBe(0);
  await expectOthersUnchanged(foreign);
  expect(await eraseAccount(deps(), user.id, { now: now + lateWritesMs, batchesMax, lateWritesMs })).toEqual({
    removed: 0,
    hasMore: false,
    keptObjects: 0,
  });
});

test('completes an interrupted erasure in the next runs, also in concurrent ones', async () => {
  for (let interruptAfter = 0; interruptAfter < 5; interruptAfter += 1) {
    const { user, foreign } = await accountWithData();
    const now = Date.now() - lateWritesMs;
    await removeAccount(engine.documents, user, { now, audit: testAudit });
    let steps = 0;
    const cut = deps(() => {
      if (steps++ === interruptAfter) throw new Error('the process died');
    });
    await expect(eraseAccount(cut, user.id, { now: Date.now(), batchesMax, lateWritesMs })).rejects.toThrow(
      'the process died',
    );
    await Promise.all([1, 2].map(() => eraseAccount(deps(), user.id, { now: Date.now(), batchesMax, lateWritesMs })));
    expect(await holding(user.id)).toEqual([]);
    await expectOthersUnchanged(foreign);
  }
});

test('stops after the maximum number of batches and reports that more remains', async () => {
  const { user } = await accountWithData();
  const now = Date.now() - lateWritesMs;
  await removeAccount(engine.documents, user, { now, audit: testAudit });
  let runs = 0;
  while ((await eraseAccount(deps(), user.id, { now: Date.now(), batchesMax: 1, lateWritesMs })).hasMore) runs += 1;
  expect(runs).toBeGreaterThan(10);
  expect(await holding(user.id)).toEqual([]);
});

test('keeps an account with a topic under legal hold, and keeps a later-held topic until the hold ends', async () => {
  const user = await engine.documents.insert(users, newUser());
  const topic = await engine.documents.insert(topics, newTopic(user.id, { isHeld: true }));
  await expect(removeAccount(engine.documents, user, { now: Date.now(), audit: testAudit })).rejects.toThrow(
    'Topic is under legal hold',
  );
  const free = await engine.documents.update(topics, topic, { isHeld: false });
  const now = Date.now() - lateWritesMs;
  await removeAccount(engine.documents, user, { now, audit: testAudit });
  const held = await engine.documents.update(topics, free, { isHeld: true });
  const erase = () => eraseAccount(deps(), user.id, { now: Date.now(), batchesMax, lateWritesMs });
  expect(await erase()).toEqual({ removed: 0, hasMore: false, keptObjects: 0 });
  expect(await engine.documents.get(accountErasures, user.id)).not.toBeNull();
  await engine.documents.update(topics, held, { isHeld: false });
  expect(await erase()).toEqual({ removed: 1, hasMore: false, keptObjects: 0 });
  expect(await engine.documents.get(accountErasures, user.id)).toBeNull();
});

test("removes the audit log's personal data about login attempts to a never-verified account", async () => {
  const { documents } = engine;
  const user = await documents.insert(
    users,
    newUser({ isVerified: false, wasVerified: false, createdAt: Date.now() - lateWritesMs }),
  );
  const invite = await documents.insert(teamInvites, {
    id: newId(),
    teamId: newId(),
    email: user.email,
    role: 'member',
    invitedById: newId(),
    tokenHash: newId(),
    createdAt: 1,
    expiresAt: 2,
  });
  const attempts = Array.from({ length: 1_100 }, (_, at) => ({
    id: newId(),
    at,
    userId: user.id,
    address: '192.0.2.1',
    userAgent: null,
    formerEmail: null,
  }));
  for (const some of [attempts.slice(0, 550), attempts.slice(550)])
    await documents.commit(some.map((one) => write.insert(auditOrigins, one)));
  await documents.commit(await removeUnverified(documents, user, testAudit));
  expect(await eraseAccount(deps(), user.id, { now: Date.now(), batchesMax, lateWritesMs })).toEqual({
    removed: 600,
    hasMore: false,
    keptObjects: 0,
  });
  expect(await holding(user.id)).toEqual([]);
  expect(await documents.get(teamInvites, invite.id)).not.toBeNull(); // belongs to the next owner of the address
});

test('never erases an existing account', async () => {
  const user = await engine.documents.insert(users, newUser());
  await engine.documents.insert(accountErasures, { id: user.id, email: user.email, requestedAt: 1 });
  const run = { now: Date.now(), batchesMax, lateWritesMs };
  await expect(eraseAccount(deps(), user.id, run)).rejects.toThrow('exists');
  await engine.documents.remove(accountErasures, user.id);
});
