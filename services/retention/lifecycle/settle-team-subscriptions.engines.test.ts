import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { Subscription } from '@tocsin/shared/domain/push/subscription.ts';
import { defaultMobileSettings } from '@tocsin/shared/domain/push/subscription.ts';
import type { Team } from '@tocsin/shared/domain/teams/team.ts';
import type { TeamSubscription } from '@tocsin/shared/domain/push/team-subscription.ts';
import { retentionQueue, teamSubscriptionJob } from '@tocsin/shared/domain/retention/retention-job.ts';
import { write } from '@tocsin/shared/ports/documents.ts';
import {
  findOwnSubscription,
  subscriptions,
  subscriptionsPerAccount,
  teamSubscriptionMembers,
  teamSubscriptions,
} from '@tocsin/shared/collections/subscriptions-collection.ts';
import { teamMembers, teams } from '@tocsin/shared/collections/teams.ts';
import { topics } from '@tocsin/shared/collections/topics.ts';
import { endTeamSubscription } from '@tocsin/shared/operations/teams/subscriptions/end-team-subscription.ts';
import { runTeamSubscription } from '@tocsin/shared/operations/teams/subscriptions/run-team-subscription.ts';
import { settleMember } from '@tocsin/shared/operations/teams/subscriptions/settle-member.ts';
import { eraseTopic } from '@tocsin/shared/operations/topics/erase-topic.ts';
import { removeMember } from '@tocsin/shared/operations/teams/remove-member.ts';
import { newId, newMember, newSubscription, newTeam, testAudit } from '@tocsin/shared/testing/builders.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { engineUnderTest } from '@tocsin/shared/testing/test-engine.ts';
import { openRetentionInstallation, type RetentionInstallation } from '../retention-installation.fixtures.ts';

let at: RetentionInstallation;
beforeEach(async () => {
  at = await openRetentionInstallation();
});
afterEach(() => at.close());

const settleDeps = () => ({ documents: at.engine.documents, makeId: newId, clock: at.clock });

/** A team with members and a topic, and a subscription for all that was stored by a process that died afterwards. */
async function interrupted(members: number, given: Partial<TeamSubscription> = {}) {
  const { documents } = at.engine;
  const team: Team = await documents.insert(teams, newTeam(newId()));
  const topic = await at.insertTopic({ teamId: team.id });
  const userIds = Array.from({ length: members }, () => newId());
  await documents.commit(
    userIds.map((userId) => write.insert(teamMembers, { ...newMember(team.id, userId), joinedAt: 1 })),
  );
  const made = await documents.insert(teamSubscriptions, newTeamSubscription(team.id, topic.id, given));
  return { team, topic, userIds, made };
}

function newTeamSubscription(teamId: string, topicId: string, given: Partial<TeamSubscription> = {}) {
  const { mobileEnabled, webEnabled, quietHours, ...settings } = defaultMobileSettings;
  return {
    id: newId(),
    teamId,
    topicId,
    isForAll: true,
    isMandatory: false,
    settings,
    createdAt: Date.now(),
    endedAt: null,
    pendingSince: Date.now(),
    doneUpTo: null,
    ...given,
  };
}

const subscribed = (topicId: string): Promise<Subscription[]> =>
  at.engine.documents.find(subscriptions, { index: 'byTopic', equals: { topicId }, limit: 1_000 });
const usersOf = async (topicId: string) => (await subscribed(topicId)).map(({ userId }) => userId).sort();
const countOf = async (topicId: string) => (await at.engine.documents.get(topics, topicId))!.subscriberCount;

test('a sweep completes a team subscription whose process died, and ends one', async () => {
  const { documents } = at.engine;
  const { team, topic, userIds, made } = await interrupted(3);
  await at.start();
  await eventually(async () => expect((await documents.get(teamSubscriptions, made.id))?.pendingSince).toBeNull());
  expect(await usersOf(topic.id)).toEqual([...userIds].sort());
  expect(await countOf(topic.id)).toBe(3);
  await endTeamSubscription(documents, { id: made.id, teamId: team.id, now: at.clock() }, () => []);
  await eventually(async () => expect(await documents.get(teamSubscriptions, made.id)).toBeNull());
  expect(await usersOf(topic.id)).toEqual([]);
  expect(await countOf(topic.id)).toBe(0);
});

test('a sweep subscribes a new member whose process died', async () => {
  const { documents } = at.engine;
  const { team, topic } = await interrupted(0, { pendingSince: null });
  const member = await documents.insert(teamMembers, {
    ...newMember(team.id, newId()),
    subscribesSince: at.clock(),
  });
  await at.start();
  await eventually(async () => expect((await documents.get(teamMembers, member.id))!.subscribesSince).toBeNull());
  expect(await usersOf(topic.id)).toEqual([member.userId]);
});

/** An overloaded machine takes more than 0.1 s for each. */
const aTransactionPerMember = { timeoutMs: 180_000 };

test('a job subscribes and unsubscribes a large team in several runs', async () => {
  const { documents, jobQueue } = at.engine;
  // Joined in the same millisecond. More than a page; on the embedded engine also more than a run of the job. On the
  // cluster, a member takes about 20 ms of CPU time.
  const { team, topic, userIds, made } = await interrupted(engineUnderTest === 'embedded' ? 560 : 160);
  expect(await runTeamSubscription(settleDeps(), made.id, 50)).toEqual({ removed: 0, hasMore: true });
  expect(await countOf(topic.id)).toBe(50);
  await at.start('1d');
  await jobQueue.add(retentionQueue, [teamSubscriptionJob(newId(), made.id)]);
  await eventually(
    async () => expect((await documents.get(teamSubscriptions, made.id))!.pendingSince).toBeNull(),
    aTransactionPerMember,
  );
  expect(await countOf(topic.id)).toBe(userIds.length);
  await endTeamSubscription(documents, { id: made.id, teamId: team.id, now: at.clock() }, () => []);
  await jobQueue.add(retentionQueue, [teamSubscriptionJob(newId(), made.id)]);
  await eventually(
    async () => expect(await documents.get(teamSubscriptions, made.id)).toBeNull(),
    aTransactionPerMember,
  );
  expect(await countOf(topic.id)).toBe(0);
}, 400_000);

test('a member who leaves while being subscribed keeps no subscription', async () => {
  const { documents } = at.engine;
  const { team, topic, userIds } = await interrupted(20);
  await Promise.all(
    userIds.flatMap((userId) => [
      settleMember(settleDeps(), { teamId: team.id, userId, topicId: topic.id }),
      removeMember(documents, team.id, userId, testAudit),
    ]),
  );
  expect(await usersOf(topic.id)).toEqual([]);
  expect(await countOf(topic.id)).toBe(0);
});

test('concurrent runs subscribe each member once', async () => {
  const { topic, userIds, made } = await interrupted(20);
  await Promise.all([1, 2, 3].map(() => runTeamSubscription(settleDeps(), made.id, 1_000)));
  expect(await usersOf(topic.id)).toEqual([...userIds].sort());
  expect(await countOf(topic.id)).toBe(userIds.length);
});

test('an account at its limit of subscriptions is not subscribed', async () => {
  const { documents } = at.engine;
  const { topic, userIds, made } = await interrupted(2);
  const full = userIds[0]!;
  for (let left = subscriptionsPerAccount; left > 0; left -= 500)
    await documents.commit(
      Array.from({ length: 500 }, () => write.insert(subscriptions, newSubscription(full, newId()))),
    );
  await runTeamSubscription(settleDeps(), made.id, 1_000);
  expect(await usersOf(topic.id)).toEqual([userIds[1]]);
});

test('the erasure of the topic removes what the team had set', async () => {
  const { documents } = at.engine;
  const { team, topic, userIds, made } = await interrupted(2);
  const named = { id: newId(), teamSubscriptionId: made.id, teamId: team.id, userId: userIds[0]! };
  await documents.insert(teamSubscriptionMembers, named);
  await documents.remove(topics, topic.id);
  await eraseTopic({ ...at.engine, archive: null }, topic.id, { batchesMax: 10, now: Date.now() });
  expect(await documents.get(teamSubscriptions, made.id)).toBeNull();
  expect(await documents.get(teamSubscriptionMembers, named.id)).toBeNull();
  expect(await findOwnSubscription(documents, userIds[0]!, topic.id)).toBeNull();
});
