import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { changesChannel, type Change } from '@tocsin/shared/domain/change.ts';
import { cleanUpTopicJob, retentionQueue } from '@tocsin/shared/domain/retention/retention-job.ts';
import type { LogRecord } from '@tocsin/shared/domain/messages/log-record.ts';
import { deletionRecord } from '@tocsin/shared/domain/messages/message-changes.ts';
import { mailQueue } from '@tocsin/shared/domain/accounts/mail-job.ts';
import { noNotice } from '@tocsin/shared/domain/teams/team-lifecycle.ts';
import type { Team } from '@tocsin/shared/domain/teams/team.ts';
import type { Tier } from '@tocsin/shared/domain/accounts/tiers.ts';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import { write } from '@tocsin/shared/ports/documents.ts';
import type { JobData } from '@tocsin/shared/ports/job-queue.ts';
import type { Engine } from '@tocsin/shared/ports/engine.ts';
import { closers, type Closers } from '@tocsin/shared/platform/lifecycle.ts';
import { openLogger } from '@tocsin/shared/platform/logger.ts';
import { addressChanges } from '@tocsin/shared/collections/address-changes.ts';
import { consents } from '@tocsin/shared/collections/consents.ts';
import { loginSessions } from '@tocsin/shared/collections/credentials.ts';
import { idempotencyKeys } from '@tocsin/shared/collections/idempotency-keys.ts';
import { mailTokens } from '@tocsin/shared/collections/mail-tokens.ts';
import { users } from '@tocsin/shared/collections/users.ts';
import { messageLocks } from '@tocsin/shared/collections/message-locks.ts';
import { removeTopicWrites } from '@tocsin/shared/collections/topic-cleanups.ts';
import { subscriptions } from '@tocsin/shared/collections/subscriptions-collection.ts';
import { streamSessions } from '@tocsin/shared/collections/stream-sessions.ts';
import { teamInvites } from '@tocsin/shared/collections/team-invites.ts';
import { auditBy, auditEntries, auditOrigins } from '@tocsin/shared/collections/audit-log.ts';
import { findAuditEntries } from '@tocsin/shared/operations/audit/find-audit-entries.ts';
import { setTier } from '@tocsin/shared/operations/accounts/set-tier.ts';
import { teamMembers, teams } from '@tocsin/shared/collections/teams.ts';
import { topics } from '@tocsin/shared/collections/topics.ts';
import {
  newId,
  newMember,
  newMessage,
  newSubscription,
  newTeam,
  newTopic,
  newUser,
  testAudit,
} from '@tocsin/shared/testing/builders.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { engineUnderTest, openOwnEngine, publish } from '@tocsin/shared/testing/test-engine.ts';
import { startRetention } from './start-retention.ts';

const log = openLogger('test', process.env['TEST_LOG_LEVEL'] ?? 'silent');
const dayMs = 86_400_000;
const config = {
  RETENTION_DAYS_FREE: 7,
  RETENTION_DAYS_ESSENTIALS: 30,
  RETENTION_DAYS_TEAM: 90,
  ERASURE_SETTLE_SECONDS: 60,
  TEAM_GRACE_DAYS: 7,
  TEAM_REMOVAL_DAYS: 60,
  AUDIT_RETENTION_DAYS: 365,
  RATE_LIMITS: true,
};

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
  let own: Closers;
  let engine: Engine;
  let aheadMs: number;
  const clock = (): number => Date.now() + aheadMs;

  beforeEach(async () => {
    own = closers();
    aheadMs = 0;
    ({ engine } = await openOwnEngine(own, clock));
  });
  afterEach(() => own.closeAll());

  const start = async (schedule = '1s'): Promise<void> => {
    const retention = await startRetention({
      engine,
      config: { ...config, RETENTION_SCHEDULE: schedule },
      log,
      clock,
      storeTime: async () => clock(),
    });
    own.add(() => retention.close());
  };
  const insertTopic = (given: Partial<Topic> = {}): Promise<Topic> =>
    engine.documents.insert(topics, newTopic(newId(), given));

  const change = async (topic: Topic, record: LogRecord) => {
    const offset = await engine.eventLog.append(topic.partition, record, topic.name);
    await engine.messages.apply([{ partition: topic.partition, offset, record }]);
  };

  test('removes only expired messages, and none of a topic under legal hold', async () => {
    const [topic, held] = [await insertTopic(), await insertTopic({ isHeld: true })];
    const [short, long, kept] = [
      newMessage(topic.id, { expiresAt: Date.now() + dayMs }),
      newMessage(topic.id),
      newMessage(held.id, { expiresAt: Date.now() + dayMs }),
    ];
    await publish(engine, topic, short);
    await publish(engine, topic, long);
    await publish(engine, held, kept);
    aheadMs = 2 * dayMs;
    await start();
    await eventually(async () => expect(await engine.messages.find(short.id)).toBeNull());
    expect(await engine.messages.find(long.id)).not.toBeNull();
    expect(await engine.messages.find(kept.id)).not.toBeNull();
  });

  test('redacts only messages deleted 30 days ago, and none of a topic under legal hold', async () => {
    const [topic, held] = [await insertTopic(), await insertTopic({ isHeld: true })];
    const long = { expiresAt: Date.now() + 90 * dayMs };
    const [gone, young, kept] = [newMessage(topic.id, long), newMessage(topic.id, long), newMessage(held.id, long)];
    for (const [of, message, deletedAt] of [
      [topic, gone, Date.now()],
      [topic, young, Date.now() + dayMs],
      [held, kept, Date.now()],
    ] as const) {
      await publish(engine, of, message);
      await change(of, deletionRecord((await engine.messages.find(message.id))!, deletedAt));
    }
    aheadMs = 30 * dayMs + 60_000;
    await start();
    const text = async ({ id }: { id: string }) => (await engine.messages.find(id))!.message;
    await eventually(async () => expect(await text(gone)).toBe(''));
    expect([await text(young), await text(kept)]).toEqual([young.message, kept.message]);
  });

  test('removes the locks of dead processes', async () => {
    const lock = (takenAt: number) => engine.documents.insert(messageLocks, { id: newId(), takenAt });
    const [left, held] = [await lock(Date.now() - 3_600_001), await lock(Date.now())];
    await start();
    await eventually(async () => expect(await engine.documents.get(messageLocks, left.id)).toBeNull());
    expect(await engine.documents.get(messageLocks, held.id)).not.toBeNull();
  });

  test('removes only idempotency keys that ended an hour ago', async () => {
    const key = (expiresAt: number) =>
      engine.documents.insert(idempotencyKeys, {
        id: newId(),
        messageId: newId(),
        reservedAt: 0,
        hasFailed: false,
        expiresAt,
      });
    const hourAgo = Date.now() - 3_600_000;
    const kept = await key(hourAgo + 60_000);
    const gone = await Promise.all(Array.from({ length: 501 }, (_, n) => key(hourAgo - 1 - n)));
    await start();
    await eventually(async () =>
      expect(
        await engine.documents.getMany(
          idempotencyKeys,
          gone.map(({ id }) => id),
        ),
      ).toEqual([]),
    );
    expect(await engine.documents.get(idempotencyKeys, kept.id)).not.toBeNull();
  });

  test('removes more than a batch in one run', async () => {
    const topic = await insertTopic();
    const expiresAt = Date.now() + dayMs;
    await Promise.all(Array.from({ length: 4_500 }, () => publish(engine, topic, newMessage(topic.id, { expiresAt }))));
    aheadMs = 2 * dayMs;
    await start();
    await eventually(async () =>
      expect((await engine.messages.topicStats([topic.id])).get(topic.id)!.messageCount).toBe(0),
    );
  });

  test('erases the data of a deleted topic by its job', async () => {
    const topic = await insertTopic();
    await publish(engine, topic, newMessage(topic.id));
    const subscription = await engine.documents.insert(subscriptions, newSubscription(newId(), topic.id));
    await start('1d');
    await engine.documents.commit(removeTopicWrites(topic, { id: newId(), now: clock() }));
    await engine.jobQueue.add(retentionQueue, [cleanUpTopicJob(newId(), topic.id, 0)]);
    await eventually(async () =>
      expect(await engine.messages.lastOffsets([topic.id])).toEqual(new Map([[topic.id, -1]])),
    );
    expect(await engine.documents.get(subscriptions, subscription.id)).toBeNull();
  });

  test('erases the data of a deleted topic without a job', async () => {
    const topic = await insertTopic();
    await publish(engine, topic, newMessage(topic.id));
    await engine.documents.commit(removeTopicWrites(topic, { id: newId(), now: clock() }));
    await start();
    await eventually(async () =>
      expect(await engine.messages.lastOffsets([topic.id])).toEqual(new Map([[topic.id, -1]])),
    );
  });

  test('removes only accounts unverified for a week, with their data', async () => {
    const week = 7 * dayMs;
    const old = { isVerified: false, wasVerified: false, createdAt: Date.now() - week - 1 };
    const insert = (given: Parameters<typeof newUser>[0]) => engine.documents.insert(users, newUser(given));
    const [never, young, changed] = [
      await insert(old),
      await insert({ ...old, createdAt: Date.now() - week + 60_000 }),
      await insert({ ...old, wasVerified: true }),
    ];
    const token = await engine.documents.insert(mailTokens, mailToken(never.id, Date.now() + dayMs));
    const consent = await engine.documents.insert(consents, {
      id: newId(),
      userId: never.id,
      consentType: 'tos',
      documentVersion: '1',
      acceptedAt: 0,
      consentMethod: 'web_checkbox',
      isActive: true,
    });
    await start();
    await eventually(async () => expect(await engine.documents.get(users, never.id)).toBeNull());
    expect(await engine.documents.get(mailTokens, token.id)).toBeNull();
    expect(await engine.documents.get(consents, consent.id)).toBeNull();
    for (const kept of [young, changed]) expect(await engine.documents.get(users, kept.id)).not.toBeNull();
  });

  test('removes logins, email tokens and former addresses a week after their end', async () => {
    const login = (expiresAt: number) =>
      engine.documents.insert(loginSessions, {
        id: newId(),
        userId: newId(),
        refreshHash: newId(),
        createdAt: 0,
        expiresAt,
      });
    const token = (expiresAt: number) => engine.documents.insert(mailTokens, mailToken(newId(), expiresAt));
    const left = (changedAt: number) =>
      engine.documents.insert(addressChanges, { id: newId(), userId: newId(), oldEmail: 'a@example.org', changedAt });
    const [gone, kept] = [Date.now() - 7 * dayMs - 1, Date.now() - 7 * dayMs + 60_000];
    const [goneLogin, goneToken, goneChange] = [await login(gone), await token(gone), await left(gone)];
    const [keptLogin, keptToken, keptChange] = [await login(kept), await token(kept), await left(kept)];
    await start();
    await eventually(async () => {
      expect(await engine.documents.get(loginSessions, goneLogin.id)).toBeNull();
      expect(await engine.documents.get(mailTokens, goneToken.id)).toBeNull();
      expect(await engine.documents.get(addressChanges, goneChange.id)).toBeNull();
    });
    expect(await engine.documents.get(loginSessions, keptLogin.id)).not.toBeNull();
    expect(await engine.documents.get(mailTokens, keptToken.id)).not.toBeNull();
    expect(await engine.documents.get(addressChanges, keptChange.id)).not.toBeNull();
  });

  test('removes stream sessions ten minutes after their end', async () => {
    const session = (expiresAt: number) =>
      engine.documents.insert(streamSessions, {
        id: newId(),
        credential: { kind: 'api-key', secretHash: newId() },
        topics: [],
        sinceIds: null,
        createdAt: 0,
        expiresAt,
      });
    const [gone, kept] = [await session(Date.now() - 600_001), await session(Date.now() - 540_000)];
    await start();
    await eventually(async () => expect(await engine.documents.get(streamSessions, gone.id)).toBeNull());
    expect(await engine.documents.get(streamSessions, kept.id)).not.toBeNull();
  });

  test('removes invites 7 days after their end', async () => {
    const invite = (expiresAt: number) =>
      engine.documents.insert(teamInvites, {
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
    await start();
    await eventually(async () => expect(await engine.documents.get(teamInvites, gone.id)).toBeNull());
    expect(await engine.documents.get(teamInvites, kept.id)).not.toBeNull();
  });

  test('completes an interrupted removal of a team and notifies the nodes', async () => {
    const team = await engine.documents.insert(teams, newTeam(newId(), { removal: 'convert' }));
    const kept = await engine.documents.insert(teams, newTeam(newId()));
    const topic = await insertTopic({ ownerId: team.ownerId, teamId: team.id });
    const told: string[] = [];
    const subscription = await engine.bus.subscribe(changesChannel, (payload) =>
      told.push((JSON.parse(payload) as Change).kind),
    );
    own.add(() => subscription.close());
    await start();
    await eventually(async () => expect(await engine.documents.get(teams, team.id)).toBeNull());
    expect(await engine.documents.get(topics, topic.id)).toMatchObject({ teamId: null, accessLevel: 'private' });
    expect(await engine.documents.get(teams, kept.id)).not.toBeNull();
    await eventually(() => expect(told).toEqual(expect.arrayContaining(['topic', 'team'])));
  });

  test('removes audit entries with their personal data after AUDIT_RETENTION_DAYS', async () => {
    const actor = newId();
    const source = { actor, through: 'login', credentialId: null, address: '192.0.2.1', userAgent: null } as const;
    for (const days of [366, 364]) {
      const audit = auditBy({ makeId: newId, clock: () => clock() - days * dayMs }, source);
      await engine.documents.commit(audit({ action: 'password.changed', subject: { id: actor }, details: {} }));
    }
    await start();
    await eventually(async () => {
      expect(await engine.documents.count(auditEntries, { index: 'byActor', equals: { actor } })).toBe(1);
      expect(await engine.documents.count(auditOrigins, { index: 'byUser', equals: { userId: actor } })).toBe(1);
    });
    expect((await findAuditEntries(engine.documents, { actor }, 10)).entries).toMatchObject([
      { origin: { address: '192.0.2.1' } },
    ]);
  });

  describe('a team whose owner is below the TEAM tier', () => {
    let mails: JobData[];
    const mailed = (kind: string, userId: string) =>
      mails.filter((mail) => mail['kind'] === kind && mail['userId'] === userId).length;
    const stored = (team: { id: string }) => engine.documents.get(teams, team.id);

    beforeEach(async () => {
      mails = [];
      const worker = await engine.jobQueue.work(mailQueue, {
        concurrency: 1,
        run: async ({ data }) => void mails.push(data),
      });
      own.add(() => worker.close());
    });

    /** Runs the sweep now: the clock advances by weeks, and a schedule would have to catch up on many slots. */
    const sweepUntil = (holds: () => Promise<void> | void): Promise<void> =>
      eventually(
        async () => {
          await engine.jobQueue.add(retentionQueue, [{ id: newId(), data: { kind: 'sweep', name: 'lapse-teams' } }]);
          await holds();
        },
        { intervalMs: 200 },
      );

    /** A team with its members and a topic. */
    async function found(tier: Tier = 'FREE', given: Partial<Team> = {}) {
      const [owner, admin, member] = await Promise.all(
        [tier, 'FREE' as const, 'FREE' as const].map((of) => engine.documents.insert(users, newUser({ tier: of }))),
      );
      const team = await engine.documents.insert(teams, newTeam(owner!.id, given));
      for (const [user, role] of [
        [owner, 'owner'],
        [admin, 'admin'],
        [member, 'member'],
      ] as const)
        await engine.documents.insert(teamMembers, newMember(team.id, user!.id, role));
      return {
        owner: owner!,
        admin: admin!,
        member: member!,
        team,
        topic: await insertTopic({ ownerId: owner!.id, teamId: team.id }),
      };
    }

    test('enters its grace period, is deactivated, announced three times and removed; its owner keeps the topics', async () => {
      const [{ owner, admin, member, team, topic }, other] = [await found(), await found('TEAM')];
      const told: string[] = [];
      const subscription = await engine.bus.subscribe(changesChannel, (payload) => told.push(payload));
      own.add(() => subscription.close());
      await start('1d');
      await sweepUntil(() => expect(mailed('team-lapse', owner.id)).toBe(1));
      expect(await stored(team)).toMatchObject({ isActive: true });
      aheadMs = 7 * dayMs;
      await sweepUntil(async () => expect(await stored(team)).toMatchObject({ isActive: false }));
      await sweepUntil(() => expect(told).toContain(JSON.stringify({ kind: 'team', teamId: team.id })));
      for (const [days, count] of [
        [37, 1],
        [60, 2],
        [66, 3],
      ] as const) {
        expect(mailed('team-removal', owner.id)).toBe(count - 1);
        aheadMs = days * dayMs + 60_000;
        await sweepUntil(() =>
          expect([mailed('team-removal', owner.id), mailed('team-removal', admin.id)]).toEqual([count, count]),
        );
      }
      expect(await stored(team)).not.toBeNull();
      aheadMs = 67 * dayMs + 60_000;
      await sweepUntil(async () => expect(await stored(team)).toBeNull());
      await sweepUntil(async () =>
        expect(await engine.documents.get(topics, topic.id)).toMatchObject({
          teamId: null,
          accessLevel: 'private',
          ownerId: owner.id,
        }),
      );
      expect([
        mailed('team-lapse', owner.id),
        mailed('team-lapse', admin.id),
        mailed('team-removal', member.id),
        mailed('team-lapse', other.owner.id),
      ]).toEqual([1, 0, 0, 0]);
      expect(await stored(other.team)).toEqual(other.team);
      const recorded = (await findAuditEntries(engine.documents, { subject: team.id }, 10)).entries.map(
        ({ entry }) => entry,
      );
      expect(recorded.map(({ action }) => action)).toEqual(['team.deleted', 'team.deactivated', 'team.lapsed']);
      expect(recorded[0]).toMatchObject({
        actor: 'system',
        through: 'server',
        subjectName: team.name,
        details: { topics: 'convert', reason: 'lapsed' },
      });
    });

    test('continues if the tier is restored within the grace period, and gets a full grace period the next time', async () => {
      const { owner, team } = await found();
      await start('1d');
      await sweepUntil(() => expect(mailed('team-lapse', owner.id)).toBe(1));
      await sweepUntil(async () => expect((await stored(team))!.noticeSentAt).not.toBeNull());
      aheadMs = 5 * dayMs;
      await setTier(engine.documents, owner.email, { tier: 'TEAM', now: clock() }, testAudit);
      expect(await stored(team)).toMatchObject({ isActive: true, ...noNotice });
      await setTier(engine.documents, owner.email, { tier: 'ESSENTIALS', now: clock() }, testAudit);
      await sweepUntil(() => expect(mailed('team-lapse', owner.id)).toBe(2));
      aheadMs = 8 * dayMs;
      const witness = await found();
      await sweepUntil(() => expect(mailed('team-lapse', witness.owner.id)).toBe(1));
      expect(await stored(team)).toMatchObject({ isActive: true });
      aheadMs = 12 * dayMs + 60_000;
      await sweepUntil(async () => expect(await stored(team)).toMatchObject({ isActive: false }));
    });

    test("is announced in one email of each kind with the owner's others, even after an interrupted run", async () => {
      const { owner, team } = await found('FREE', { lapsedAt: Date.now(), notice: 'lapse', noticeAt: Date.now() });
      const second = await engine.documents.insert(teams, newTeam(owner.id));
      await start('1d');
      await sweepUntil(async () => {
        for (const one of [team, second]) expect((await stored(one))!.noticeSentAt).not.toBeNull();
      });
      await sweepUntil(() => expect(mailed('team-lapse', owner.id)).toBe(1));
    });

    test('is found among more teams than fit into one page, created at the same time', async () => {
      const covered = await found('TEAM', { createdAt: 1 });
      const many = Array.from({ length: 620 }, () => newTeam(covered.owner.id, { createdAt: 1 }));
      for (const part of [many.slice(0, 310), many.slice(310)])
        await engine.documents.commit(part.map((team) => write.insert(teams, team)));
      const last = [await found('FREE', { createdAt: 1 }), await found()];
      await start('1d');
      for (const { owner } of last) await sweepUntil(() => expect(mailed('team-lapse', owner.id)).toBe(1));
      expect(mailed('team-lapse', covered.owner.id)).toBe(0);
    });
  });

  test('rejects an invalid schedule at the start', async () => {
    await expect(
      startRetention({ engine, config: { ...config, RETENTION_SCHEDULE: 'often' }, log, clock }),
    ).rejects.toThrow('RETENTION_SCHEDULE: "often" must be a duration like 60s or a cron expression');
  });
});
