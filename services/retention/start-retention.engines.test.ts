import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { changesChannel, type Change } from '@tocsin/shared/domain/change.ts';
import { cleanUpTopicJob, retentionQueue } from '@tocsin/shared/domain/retention/retention-job.ts';
import type { LogRecord } from '@tocsin/shared/domain/messages/log-record.ts';
import { deletionRecord } from '@tocsin/shared/domain/messages/message-changes.ts';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import { addressChanges } from '@tocsin/shared/collections/address-changes.ts';
import { consents } from '@tocsin/shared/collections/consents.ts';
import { loginSessions } from '@tocsin/shared/collections/credentials.ts';
import { idempotencyKeys } from '@tocsin/shared/collections/idempotency-keys.ts';
import { mailTokens } from '@tocsin/shared/collections/mail-tokens.ts';
import { users } from '@tocsin/shared/collections/users.ts';
import { messageLocks } from '@tocsin/shared/collections/message-locks.ts';
import { formerTopics, removeTopicWrites } from '@tocsin/shared/collections/topic-cleanups.ts';
import { subscriptions } from '@tocsin/shared/collections/subscriptions-collection.ts';
import { streamSessions } from '@tocsin/shared/collections/stream-sessions.ts';
import { teamInvites } from '@tocsin/shared/collections/team-invites.ts';
import { auditBy, auditEntries, auditOrigins } from '@tocsin/shared/collections/audit-log.ts';
import { findAuditEntries } from '@tocsin/shared/operations/audit/find-audit-entries.ts';
import { teams } from '@tocsin/shared/collections/teams.ts';
import { topics } from '@tocsin/shared/collections/topics.ts';
import { newId, newMessage, newSubscription, newTeam, newUser } from '@tocsin/shared/testing/builders.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { engineUnderTest, publish } from '@tocsin/shared/testing/test-engine.ts';
import { startRetention } from './start-retention.ts';
import {
  openRetentionInstallation,
  retentionConfig,
  testLog,
  type RetentionInstallation,
} from './retention-installation.fixtures.ts';

const dayMs = 86_400_000;

function mailToken(userId: string, expiresAt: number) {
  return {
    id: newId(),
    purpose: 'verify-email' as const,
    userId,
    email: 'a@example.org',
    tokenHash: newId(),
    expiresAt,
  };
}

describe(`retention, ${engineUnderTest}`, () => {
  let at: RetentionInstallation;
  beforeEach(async () => {
    at = await openRetentionInstallation();
  });
  afterEach(() => at.close());

  const change = async (topic: Topic, record: LogRecord) => {
    const offset = await at.engine.eventLog.append(topic.partition, record, topic.name);
    await at.engine.messages.apply([{ partition: topic.partition, offset, record }]);
  };

  test('removes only expired messages, and none of a topic under legal hold', async () => {
    const [topic, held] = [await at.insertTopic(), await at.insertTopic({ isHeld: true })];
    const [short, long, kept] = [
      newMessage(topic.id, { expiresAt: Date.now() + dayMs }),
      newMessage(topic.id),
      newMessage(held.id, { expiresAt: Date.now() + dayMs }),
    ];
    await publish(at.engine, topic, short);
    await publish(at.engine, topic, long);
    await publish(at.engine, held, kept);
    at.setAhead(2 * dayMs);
    await at.start();
    await eventually(async () => expect(await at.engine.messages.find(short.id)).toBeNull());
    expect(await at.engine.messages.find(long.id)).not.toBeNull();
    expect(await at.engine.messages.find(kept.id)).not.toBeNull();
  });

  test('redacts only messages deleted 30 days ago, and none of a topic under legal hold', async () => {
    const [topic, held] = [await at.insertTopic(), await at.insertTopic({ isHeld: true })];
    const long = { expiresAt: Date.now() + 90 * dayMs };
    const [gone, young, kept] = [newMessage(topic.id, long), newMessage(topic.id, long), newMessage(held.id, long)];
    for (const [of, message, deletedAt] of [
      [topic, gone, Date.now()],
      [topic, young, Date.now() + dayMs],
      [held, kept, Date.now()],
    ] as const) {
      await publish(at.engine, of, message);
      await change(of, deletionRecord((await at.engine.messages.find(message.id))!, deletedAt));
    }
    at.setAhead(30 * dayMs + 60_000);
    await at.start();
    const text = async ({ id }: { id: string }) => (await at.engine.messages.find(id))!.message;
    await eventually(async () => expect(await text(gone)).toBe(''));
    expect([await text(young), await text(kept)]).toEqual([young.message, kept.message]);
  });

  test('removes the locks of dead processes', async () => {
    const lock = (takenAt: number) => at.engine.documents.insert(messageLocks, { id: newId(), takenAt });
    const [left, held] = [await lock(Date.now() - 3_600_001), await lock(Date.now())];
    await at.start();
    await eventually(async () => expect(await at.engine.documents.get(messageLocks, left.id)).toBeNull());
    expect(await at.engine.documents.get(messageLocks, held.id)).not.toBeNull();
  });

  test('removes only idempotency keys that ended an hour ago', async () => {
    const key = (expiresAt: number) =>
      at.engine.documents.insert(idempotencyKeys, {
        id: newId(),
        messageId: newId(),
        reservedAt: 0,
        hasFailed: false,
        expiresAt,
      });
    const hourAgo = Date.now() - 3_600_000;
    const kept = await key(hourAgo + 60_000);
    const gone = await Promise.all(Array.from({ length: 501 }, (_, n) => key(hourAgo - 1 - n)));
    await at.start();
    await eventually(async () =>
      expect(
        await at.engine.documents.getMany(
          idempotencyKeys,
          gone.map(({ id }) => id),
        ),
      ).toEqual([]),
    );
    expect(await at.engine.documents.get(idempotencyKeys, kept.id)).not.toBeNull();
  });

  test('removes more than a batch in one run', async () => {
    const topic = await at.insertTopic();
    const expiresAt = Date.now() + dayMs;
    await Promise.all(
      Array.from({ length: 4_500 }, () => publish(at.engine, topic, newMessage(topic.id, { expiresAt }))),
    );
    at.setAhead(2 * dayMs);
    await at.start();
    await eventually(async () =>
      expect((await at.engine.messages.topicStats([topic.id])).get(topic.id)!.messageCount).toBe(0),
    );
  });

  test('erases the data of a deleted topic by its job', async () => {
    const topic = await at.insertTopic();
    await publish(at.engine, topic, newMessage(topic.id));
    const subscription = await at.engine.documents.insert(subscriptions, newSubscription(newId(), topic.id));
    await at.start('1d');
    await at.engine.documents.commit(removeTopicWrites(topic, { id: newId(), now: at.clock() }));
    await at.engine.jobQueue.add(retentionQueue, [cleanUpTopicJob(newId(), topic.id, 0)]);
    await eventually(async () =>
      expect(await at.engine.messages.lastOffsets([topic.id])).toEqual(new Map([[topic.id, -1]])),
    );
    expect(await at.engine.documents.get(subscriptions, subscription.id)).toBeNull();
  });

  test('erases the data of a deleted topic without a job', async () => {
    const topic = await at.insertTopic();
    await publish(at.engine, topic, newMessage(topic.id));
    await at.engine.documents.commit(removeTopicWrites(topic, { id: newId(), now: at.clock() }));
    await at.start();
    await eventually(async () =>
      expect(await at.engine.messages.lastOffsets([topic.id])).toEqual(new Map([[topic.id, -1]])),
    );
  });

  test('forgets the name of a deleted topic after 90 days', async () => {
    const [old, recent] = [await at.insertTopic(), await at.insertTopic()];
    const remove = (topic: Topic, now: number) =>
      at.engine.documents.commit(removeTopicWrites(topic, { id: newId(), now }));
    await remove(old, at.clock() - 90 * dayMs);
    await remove(recent, at.clock() - 89 * dayMs);
    await at.start();
    await eventually(async () => expect(await at.engine.documents.get(formerTopics, old.id)).toBeNull());
    expect(await at.engine.documents.get(formerTopics, recent.id)).toMatchObject({ nameKey: recent.nameKey });
  });

  test('removes only accounts unverified for a week, with their data', async () => {
    const week = 7 * dayMs;
    const old = { isVerified: false, wasVerified: false, createdAt: Date.now() - week - 1 };
    const insert = (given: Parameters<typeof newUser>[0]) => at.engine.documents.insert(users, newUser(given));
    const [never, young, changed] = [
      await insert(old),
      await insert({ ...old, createdAt: Date.now() - week + 60_000 }),
      await insert({ ...old, wasVerified: true }),
    ];
    const token = await at.engine.documents.insert(mailTokens, mailToken(never.id, Date.now() + dayMs));
    const consent = await at.engine.documents.insert(consents, {
      id: newId(),
      userId: never.id,
      consentType: 'tos',
      documentVersion: '1',
      acceptedAt: 0,
      consentMethod: 'web_checkbox',
      isActive: true,
    });
    await at.start();
    await eventually(async () => expect(await at.engine.documents.get(users, never.id)).toBeNull());
    expect(await at.engine.documents.get(mailTokens, token.id)).toBeNull();
    expect(await at.engine.documents.get(consents, consent.id)).toBeNull();
    for (const kept of [young, changed]) expect(await at.engine.documents.get(users, kept.id)).not.toBeNull();
  });

  test('removes logins, email tokens and former addresses a week after their end', async () => {
    const login = (expiresAt: number) =>
      at.engine.documents.insert(loginSessions, {
        id: newId(),
        userId: newId(),
        refreshHash: newId(),
        refreshedAt: null,
        refresherHash: null,
        address: null,
        userAgent: null,
        createdAt: 0,
        expiresAt,
      });
    const token = (expiresAt: number) => at.engine.documents.insert(mailTokens, mailToken(newId(), expiresAt));
    const left = (changedAt: number) =>
      at.engine.documents.insert(addressChanges, {
        id: newId(),
        userId: newId(),
        oldEmail: 'a@example.org',
        passwordHash: null,
        tokenHash: null,
        changedAt,
      });
    const [gone, kept] = [Date.now() - 7 * dayMs - 1, Date.now() - 7 * dayMs + 60_000];
    const [goneLogin, goneToken, goneChange] = [await login(gone), await token(gone), await left(gone)];
    const [keptLogin, keptToken, keptChange] = [await login(kept), await token(kept), await left(kept)];
    await at.start();
    await eventually(async () => {
      expect(await at.engine.documents.get(loginSessions, goneLogin.id)).toBeNull();
      expect(await at.engine.documents.get(mailTokens, goneToken.id)).toBeNull();
      expect(await at.engine.documents.get(addressChanges, goneChange.id)).toBeNull();
    });
    expect(await at.engine.documents.get(loginSessions, keptLogin.id)).not.toBeNull();
    expect(await at.engine.documents.get(mailTokens, keptToken.id)).not.toBeNull();
    expect(await at.engine.documents.get(addressChanges, keptChange.id)).not.toBeNull();
  });

  test('removes stream sessions ten minutes after their end', async () => {
    const session = (expiresAt: number) =>
      at.engine.documents.insert(streamSessions, {
        id: newId(),
        credential: { kind: 'api-key', secretHash: newId() },
        topics: [],
        sinceIds: null,
        createdAt: 0,
        expiresAt,
      });
    const [gone, kept] = [await session(Date.now() - 600_001), await session(Date.now() - 540_000)];
    await at.start();
    await eventually(async () => expect(await at.engine.documents.get(streamSessions, gone.id)).toBeNull());
    expect(await at.engine.documents.get(streamSessions, kept.id)).not.toBeNull();
  });

  test('removes invites 7 days after their end', async () => {
    const invite = (expiresAt: number) =>
      at.engine.documents.insert(teamInvites, {
        id: newId(),
        teamId: newId(),
        email: `${newId()}@example.org`,
        role: 'member',
        invitedById: newId(),
        tokenHash: null,
        createdAt: 0,
        expiresAt,
      });
    const [gone, kept] = [await invite(Date.now() - 7 * dayMs - 1), await invite(Date.now() - 7 * dayMs + 60_000)];
    await at.start();
    await eventually(async () => expect(await at.engine.documents.get(teamInvites, gone.id)).toBeNull());
    expect(await at.engine.documents.get(teamInvites, kept.id)).not.toBeNull();
  });

  test('completes an interrupted removal of a team and notifies the nodes', async () => {
    const team = await at.engine.documents.insert(teams, newTeam(newId(), { removal: 'convert' }));
    const kept = await at.engine.documents.insert(teams, newTeam(newId()));
    const topic = await at.insertTopic({ ownerId: team.ownerId, teamId: team.id });
    const told: string[] = [];
    const subscription = await at.engine.bus.subscribe(changesChannel, (payload) =>
      told.push((JSON.parse(payload) as Change).kind),
    );
    at.own.add(() => subscription.close());
    await at.start();
    await eventually(async () => expect(await at.engine.documents.get(teams, team.id)).toBeNull());
    expect(await at.engine.documents.get(topics, topic.id)).toMatchObject({ teamId: null, accessLevel: 'private' });
    expect(await at.engine.documents.get(teams, kept.id)).not.toBeNull();
    await eventually(() => expect(told).toEqual(expect.arrayContaining(['topic', 'team'])));
  });

  test('removes audit entries with their personal data after AUDIT_RETENTION_DAYS', async () => {
    const actor = newId();
    const source = { actor, through: 'login', credentialId: null, address: '192.0.2.1', userAgent: null } as const;
    for (const days of [366, 364]) {
      const audit = auditBy({ makeId: newId, clock: () => at.clock() - days * dayMs }, source);
      await at.engine.documents.commit(audit({ action: 'password.changed', subject: { id: actor }, details: {} }));
    }
    await at.start();
    await eventually(async () => {
      expect(await at.engine.documents.count(auditEntries, { index: 'byActor', equals: { actor } })).toBe(1);
      expect(await at.engine.documents.count(auditOrigins, { index: 'byUser', equals: { userId: actor } })).toBe(1);
    });
    expect((await findAuditEntries(at.engine.documents, { actor }, 10)).entries).toMatchObject([
      { origin: { address: '192.0.2.1' } },
    ]);
  });

  test('rejects an invalid schedule at the start', async () => {
    await expect(
      startRetention({
        engine: at.engine,
        config: { ...retentionConfig, RETENTION_SCHEDULE: 'often' },
        log: testLog,
        clock: at.clock,
      }),
    ).rejects.toThrow('RETENTION_SCHEDULE: "often" must be a duration like 60s or a cron expression');
  });
});
