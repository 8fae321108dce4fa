import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { deletionRecord } from '@tocsin/shared/domain/messages/message-changes.ts';
import { write } from '@tocsin/shared/ports/documents.ts';
import { subscriptions } from '@tocsin/shared/collections/subscriptions-collection.ts';
import { teamMembers, teams } from '@tocsin/shared/collections/teams.ts';
import { newId, newMember, newSubscription, newTeam } from '@tocsin/shared/testing/builders.ts';
import { engineUnderTest, enginesUnderTest } from '@tocsin/shared/testing/test-engine.ts';
import { openPushInstallation, type PushInstallation } from './push-installation.fixtures.ts';
import { pushReads } from './sending/push-reads.ts';
import { followedMax, topicsMax, unreadBadges } from './sending/unread-badges.ts';

describe(`the badge of a push, ${engineUnderTest}`, () => {
  let at: PushInstallation;
  beforeEach(async () => {
    at = await openPushInstallation(enginesUnderTest());
  });
  afterEach(() => at.close());
  const deps = () => ({ ...at, reads: pushReads(at.engine) });

  const badgesOf = (token: string) =>
    at.expo.pushes.filter((push) => push.token === token).map(({ message }) => message.badge);

  test('is the number of unread messages over all subscriptions', async () => {
    const [alarms, builds] = [await at.addTopic(), await at.addTopic()];
    const before = at.clock() - 60_000;
    await at.publish(builds, { timestamp: before - 1 });
    for (const age of [0, 1_000]) await at.publish(builds, { timestamp: before + 30_000 + age });
    const { user, device } = await at.addSubscriber(alarms, { subscription: { createdAt: before } });
    const { documents } = at.engine;
    await documents.insert(
      subscriptions,
      newSubscription(user.id, builds.id, { createdAt: before, mobileEnabled: false, webEnabled: false }),
    );
    const viewer = await at.addSubscriber(alarms, { subscription: { createdAt: before, lastViewedAt: at.clock() } });
    const plain = await at.addSubscriber(alarms, { subscription: { createdAt: before, badge: 'none' } });
    const older = await at.addSubscriber(alarms, { subscription: { createdAt: before, badge: null } });
    await at.start();
    at.setAhead(1_000);
    await at.publish(alarms);
    await at.idle();
    at.setAhead(2_000);
    await at.publish(alarms);
    await at.idle();
    expect(badgesOf(device.pushToken)).toEqual([3, 4]);
    expect(badgesOf(viewer.device.pushToken)).toEqual([1, 2]);
    expect(badgesOf(older.device.pushToken)).toEqual([1, 2]);
    expect(badgesOf(plain.device.pushToken)).toEqual([undefined, undefined]);
  });

  test('is absent from a push of an old message', async () => {
    const topic = await at.addTopic();
    const { device } = await at.addSubscriber(topic, { subscription: { createdAt: at.clock() - 60_000 } });
    await at.start({ badgeAgeMsMax: 30_000 });
    for (const age of [31_000, 0]) {
      await at.publish(topic, { timestamp: at.clock() - age });
      await at.idle();
    }
    expect(badgesOf(device.pushToken)).toEqual([undefined, 2]);
  });

  test('counts no deleted messages, and none of topics that the user may not read', async () => {
    const { documents, messages } = at.engine;
    const team = await documents.insert(teams, newTeam(newId()));
    const closed = await at.addTopic({ accessLevel: 'private' });
    const ofTeam = await at.addTopic({ accessLevel: 'private', teamId: team.id });
    const open = await at.addTopic();
    const [member, guest] = [newId(), newId()];
    await documents.insert(teamMembers, newMember(team.id, member));
    const since = at.clock() - 60_000;
    await documents.commit(
      [member, guest].flatMap((userId) =>
        [closed, ofTeam, open].map((topic) =>
          write.insert(subscriptions, newSubscription(userId, topic.id, { createdAt: since })),
        ),
      ),
    );
    for (const topic of [closed, ofTeam, open]) await at.publish(topic);
    const gone = await at.publish(open);
    const record = deletionRecord((await messages.find(gone.id))!, at.clock());
    const offset = await at.engine.eventLog.append(open.partition, record, open.name);
    await messages.apply([{ partition: open.partition, offset, record }]);
    expect(await unreadBadges(deps(), [member, guest])).toEqual(
      new Map([
        [member, 2],
        [guest, 1],
      ]),
    );
  });

  test.each<[string, boolean, number]>([
    ['more subscriptions than a page reads', true, followedMax / 1_000],
    ['more topics than a page counts', false, 1],
  ])('is absent for accounts that would exceed the cost of a page: %s', async (reason, isShared, counted) => {
    const { documents } = at.engine;
    const topic = await at.addTopic();
    await at.publish(topic);
    const users = Array.from({ length: 12 }, () => newId()).sort();
    const since = at.clock() - 60_000;
    const otherTopics = () => Array.from({ length: topicsMax - 1 }, () => newId());
    const shared = otherTopics();
    for (const userId of users) {
      const own = [topic.id, ...(isShared ? shared : otherTopics())];
      await documents.commit(
        own.map((topicId) => write.insert(subscriptions, newSubscription(userId, topicId, { createdAt: since }))),
      );
    }
    const startedAt = performance.now();
    const badges = await unreadBadges(deps(), users);
    const tookMs = Math.round(performance.now() - startedAt);
    process.stdout.write(`${JSON.stringify({ test: 'badges', engine: engineUnderTest, reason, tookMs })}\n`);
    expect(badges).toEqual(new Map(users.slice(0, counted).map((userId) => [userId, 1])));
  });
});
