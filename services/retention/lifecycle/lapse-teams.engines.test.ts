import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { changesChannel } from '@tocsin/shared/domain/change.ts';
import { retentionQueue } from '@tocsin/shared/domain/retention/retention-job.ts';
import { mailQueue } from '@tocsin/shared/domain/accounts/mail-job.ts';
import { noNotice } from '@tocsin/shared/domain/teams/team-lifecycle.ts';
import type { Team } from '@tocsin/shared/domain/teams/team.ts';
import type { Tier } from '@tocsin/shared/domain/accounts/tiers.ts';
import { write } from '@tocsin/shared/ports/documents.ts';
import type { JobData } from '@tocsin/shared/ports/job-queue.ts';
import { users } from '@tocsin/shared/collections/users.ts';
import { findAuditEntries } from '@tocsin/shared/operations/audit/find-audit-entries.ts';
import { setTier } from '@tocsin/shared/operations/accounts/set-tier.ts';
import { teamMembers, teams } from '@tocsin/shared/collections/teams.ts';
import { topics } from '@tocsin/shared/collections/topics.ts';
import { newId, newMember, newTeam, newUser, testAudit } from '@tocsin/shared/testing/builders.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { engineUnderTest } from '@tocsin/shared/testing/test-engine.ts';
import { openRetentionInstallation, type RetentionInstallation } from '../retention-installation.fixtures.ts';

const dayMs = 86_400_000;

describe(`retention, ${engineUnderTest}`, () => {
  let at: RetentionInstallation;
  beforeEach(async () => {
    at = await openRetentionInstallation();
  });
  afterEach(() => at.close());

  describe('a team whose owner is below the TEAM tier', () => {
    let mails: JobData[];
    const mailed = (kind: string, userId: string) =>
      mails.filter((mail) => mail['kind'] === kind && mail['userId'] === userId).length;
    const stored = (team: { id: string }) => at.engine.documents.get(teams, team.id);

    beforeEach(async () => {
      mails = [];
      const worker = await at.engine.jobQueue.work(mailQueue, {
        concurrency: 1,
        run: async ({ data }) => void mails.push(data),
      });
      at.own.add(() => worker.close());
    });

    /** Runs the sweep now: the clock advances by weeks, and a schedule would have to catch up on many slots. */
    const sweepUntil = (holds: () => Promise<void> | void): Promise<void> =>
      eventually(
        async () => {
          await at.engine.jobQueue.add(retentionQueue, [{ id: newId(), data: { kind: 'sweep', name: 'lapse-teams' } }]);
          await holds();
        },
        { intervalMs: 200 },
      );

    /** A team with its members and a topic. */
    async function found(tier: Tier = 'FREE', given: Partial<Team> = {}) {
      const [owner, admin, member] = await Promise.all(
        [tier, 'FREE' as const, 'FREE' as const].map((of) => at.engine.documents.insert(users, newUser({ tier: of }))),
      );
      const team = await at.engine.documents.insert(teams, newTeam(owner!.id, given));
      for (const [user, role] of [
        [owner, 'owner'],
        [admin, 'admin'],
        [member, 'member'],
      ] as const)
        await at.engine.documents.insert(teamMembers, newMember(team.id, user!.id, role));
      return {
        owner: owner!,
        admin: admin!,
        member: member!,
        team,
        topic: await at.insertTopic({ ownerId: owner!.id, teamId: team.id }),
      };
    }

    test('enters its grace period, is deactivated, announced three times and removed; its owner keeps the topics', async () => {
      const [{ owner, admin, member, team, topic }, other] = [await found(), await found('TEAM')];
      const told: string[] = [];
      const subscription = await at.engine.bus.subscribe(changesChannel, (payload) => told.push(payload));
      at.own.add(() => subscription.close());
      await at.start('1d');
      await sweepUntil(() => expect(mailed('team-lapse', owner.id)).toBe(1));
      expect(await stored(team)).toMatchObject({ isActive: true });
      at.setAhead(7 * dayMs);
      await sweepUntil(async () => expect(await stored(team)).toMatchObject({ isActive: false }));
      await sweepUntil(() => expect(told).toContain(JSON.stringify({ kind: 'team', teamId: team.id })));
      for (const [days, count] of [
        [37, 1],
        [60, 2],
        [66, 3],
      ] as const) {
        expect(mailed('team-removal', owner.id)).toBe(count - 1);
        at.setAhead(days * dayMs + 60_000);
        await sweepUntil(() =>
          expect([mailed('team-removal', owner.id), mailed('team-removal', admin.id)]).toEqual([count, count]),
        );
      }
      expect(await stored(team)).not.toBeNull();
      at.setAhead(67 * dayMs + 60_000);
      await sweepUntil(async () => expect(await stored(team)).toBeNull());
      await sweepUntil(async () =>
        expect(await at.engine.documents.get(topics, topic.id)).toMatchObject({
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
      const recorded = (await findAuditEntries(at.engine.documents, { subject: team.id }, 10)).entries.map(
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
      await at.start('1d');
      await sweepUntil(() => expect(mailed('team-lapse', owner.id)).toBe(1));
      await sweepUntil(async () => expect((await stored(team))!.noticeSentAt).not.toBeNull());
      at.setAhead(5 * dayMs);
      await setTier(at.engine.documents, owner.email, { tier: 'TEAM', now: at.clock() }, testAudit);
      expect(await stored(team)).toMatchObject({ isActive: true, ...noNotice });
      await setTier(at.engine.documents, owner.email, { tier: 'ESSENTIALS', now: at.clock() }, testAudit);
      await sweepUntil(() => expect(mailed('team-lapse', owner.id)).toBe(2));
      at.setAhead(8 * dayMs);
      const witness = await found();
      await sweepUntil(() => expect(mailed('team-lapse', witness.owner.id)).toBe(1));
      expect(await stored(team)).toMatchObject({ isActive: true });
      at.setAhead(12 * dayMs + 60_000);
      await sweepUntil(async () => expect(await stored(team)).toMatchObject({ isActive: false }));
    });

    test("is announced in one email of each kind with the owner's others, even after an interrupted run", async () => {
      const { owner, team } = await found('FREE', { lapsedAt: Date.now(), notice: 'lapse', noticeAt: Date.now() });
      const second = await at.engine.documents.insert(teams, newTeam(owner.id));
      await at.start('1d');
      await sweepUntil(async () => {
        for (const one of [team, second]) expect((await stored(one))!.noticeSentAt).not.toBeNull();
      });
      await sweepUntil(() => expect(mailed('team-lapse', owner.id)).toBe(1));
    });

    test('is found among more teams than fit into one page, created at the same time', async () => {
      const covered = await found('TEAM', { createdAt: 1 });
      const many = Array.from({ length: 620 }, () => newTeam(covered.owner.id, { createdAt: 1 }));
      for (const part of [many.slice(0, 310), many.slice(310)])
        await at.engine.documents.commit(part.map((team) => write.insert(teams, team)));
      const last = [await found('FREE', { createdAt: 1 }), await found()];
      await at.start('1d');
      for (const { owner } of last) await sweepUntil(() => expect(mailed('team-lapse', owner.id)).toBe(1));
      expect(mailed('team-lapse', covered.owner.id)).toBe(0);
    });
  });
});
