import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { passesPushFilter } from '../../domain/push/push-filter.ts';
import type { Priority } from '../../domain/messages/message.ts';
import { devices as deviceCollection } from '../../collections/devices-collection.ts';
import { subscriptions as subscriptionCollection } from '../../collections/subscriptions-collection.ts';
import { newDevice, newId, newSubscription } from '../../testing/builders.ts';
import type { Deliveries, Recipient } from '../../ports/deliveries.ts';
import { write, type Documents } from '../../ports/documents.ts';

const plain = { priority: 3 as Priority, tags: [] };

/** The recipients of a message, from subscriptions and devices. */
export function describeRecipients(at: () => { documents: Documents; deliveries: Deliveries }): void {
  const subscribe = async (
    topicId: string,
    given: Parameters<typeof newSubscription>[2] = {},
    userId: string = newId(),
  ) => at().documents.insert(subscriptionCollection, newSubscription(userId, topicId, given));
  const addDevice = (userId: string, given: Parameters<typeof newDevice>[1] = {}) =>
    at().documents.insert(deviceCollection, newDevice(userId, given));
  const walk = async (match: Parameters<Deliveries['recipients']>[0], limit: number) => {
    const pages: Recipient[][] = [];
    let after: string | null = null;
    do {
      const page: Awaited<ReturnType<Deliveries['recipients']>> = await at().deliveries.recipients(match, {
        after,
        limit,
      });
      pages.push(page.recipients);
      expect(page.recipients.length).toBeLessThanOrEqual(limit);
      after = page.next;
    } while (after !== null);
    return pages.flat();
  };

  test('returns a recipient with its settings and active devices', async () => {
    const topicId = newId();
    const settings = {
      priorityThreshold: 2,
      tagsFilter: ['pump'],
      soundEnabled: false,
      vibrateEnabled: false,
      notificationSound: 'horn',
      quietHours: { start: '22:00', end: '07:00', timezone: 'Europe/Berlin', allowPriority: null },
      maxPerMinute: 3,
      allowCritical: true,
      digest: '1d' as const,
      digestAt: '07:30',
      digestTimezone: 'Europe/Berlin',
      badge: 'none' as const,
    };
    const {
      id: subscriptionId,
      userId,
      createdAt: subscribedAt,
    } = await subscribe(topicId, {
      ...settings,
      webEnabled: false,
    });
    const ios = await addDevice(userId, { platform: 'ios', createdAt: 1 });
    const android = await addDevice(userId, { platform: 'android', createdAt: 2 });
    await addDevice(userId, { isActive: false });
    await addDevice(newId());
    expect(
      await at().deliveries.recipients(
        { topicId, message: { priority: 3, tags: ['pump', 'x'] } },
        { after: null, limit: 10 },
      ),
    ).toEqual({
      recipients: [
        {
          subscriptionId,
          userId,
          subscribedAt,
          settings: { mobileEnabled: true, webEnabled: false, ...settings },
          devices: [
            { id: ios.id, platform: 'ios', pushToken: ios.pushToken, doubtedAt: null, createdAt: 1 },
            { id: android.id, platform: 'android', pushToken: android.pushToken, doubtedAt: null, createdAt: 2 },
          ],
        },
      ],
      next: null,
    });
  });

  test('includes a subscriber without active devices, with an empty list', async () => {
    const topicId = newId();
    const { userId } = await subscribe(topicId);
    await addDevice(userId, { isActive: false });
    expect(await walk({ topicId, message: plain }, 10)).toMatchObject([{ userId, devices: [] }]);
  });

  test('returns each recipient once over pages in subscription order, and marks the last page', async () => {
    const topicId = newId();
    const ids = (await Promise.all(Array.from({ length: 7 }, () => subscribe(topicId)))).map(({ id }) => id).sort();
    await subscribe(newId());
    expect((await walk({ topicId, message: plain }, 3)).map(({ subscriptionId }) => subscriptionId)).toEqual(ids);
    expect((await walk({ topicId, message: plain }, 1)).map(({ subscriptionId }) => subscriptionId)).toEqual(ids);
    const whole = await at().deliveries.recipients({ topicId, message: plain }, { after: null, limit: 7 });
    expect([whole.recipients.length, whole.next]).toEqual([7, null]);
    expect(await at().deliveries.recipients({ topicId: newId(), message: plain }, { after: null, limit: 7 })).toEqual({
      recipients: [],
      next: null,
    });
  });

  test('merges subscriptions with mobile, web and all notifications in the order of their IDs', async () => {
    const topicId = newId();
    const flags = [{ webEnabled: false }, { mobileEnabled: false }, {}, { mobileEnabled: false, webEnabled: false }];
    const all: { id: string; mobileEnabled: boolean; webEnabled: boolean }[] = [];
    for (let n = 0; n < 12; n++) all.push(await subscribe(topicId, flags[n % 4]!));
    const expected = all.filter(({ mobileEnabled, webEnabled }) => mobileEnabled || webEnabled);
    for (const limit of [1, 2, 5, 9, 20])
      expect(
        (await walk({ topicId, message: plain }, limit)).map(({ subscriptionId, settings }) => [
          subscriptionId,
          settings.mobileEnabled,
          settings.webEnabled,
        ]),
      ).toEqual(expected.map(({ id, mobileEnabled, webEnabled }) => [id, mobileEnabled, webEnabled]));
  });

  test('returns the first pages of topics with few and with many recipients concurrently', async () => {
    const sizes = [0, 1, 2, 1, 3, 90, 1, 0, 2];
    const topicIds = sizes.map(() => newId());
    const expected = await Promise.all(
      sizes.map(async (size, place) => {
        const all = Array.from({ length: size }, () => newSubscription(newId(), topicIds[place]!));
        if (size > 0) await at().documents.commit(all.map((one) => write.insert(subscriptionCollection, one)));
        const devices = await Promise.all(all.map(({ userId }) => addDevice(userId)));
        return all.map(({ id }, index) => [id, devices[index]!.id]).sort(([a], [b]) => (a! < b! ? -1 : 1));
      }),
    );
    const read = async (places: readonly number[], limit: number) => {
      const found = await Promise.all(
        places.map((place) =>
          at().deliveries.recipients({ topicId: topicIds[place]!, message: plain }, { after: null, limit }),
        ),
      );
      return found.map(({ recipients, next }) => [
        recipients.map(({ subscriptionId, devices }) => [subscriptionId, ...devices.map(({ id }) => id)]),
        next,
      ]);
    };
    const firstOf = (place: number, limit: number) => {
      const page = expected[place]!.slice(0, limit);
      return [page, expected[place]!.length > limit ? page.at(-1)![0] : null];
    };
    const small = [0, 1, 2, 3, 4, 6, 7, 8, 1, 4];
    expect(await read(small, 100)).toEqual(small.map((place) => firstOf(place, 100)));
    expect(await read(small, 2)).toEqual(small.map((place) => firstOf(place, 2)));
    const all = [...sizes.keys()];
    expect(await read(all, 100)).toEqual(all.map((place) => firstOf(place, 100)));
    for (const limit of [50, 100])
      expect(await read([5, 1, 5, 4], limit)).toEqual([5, 1, 5, 4].map((place) => firstOf(place, limit)));
  });

  test('finds the few matching recipients among thousands', async () => {
    const topicId = newId();
    const all = Array.from({ length: 4_100 }, (_, place) =>
      newSubscription(newId(), topicId, { priorityThreshold: place % 1_000 === 50 ? 1 : 5 }),
    );
    for (let from = 0; from < all.length; from += 1_000) {
      await at().documents.commit(
        all.slice(from, from + 1_000).map((one) => write.insert(subscriptionCollection, one)),
      );
    }
    const expected = all.filter(({ priorityThreshold }) => priorityThreshold === 1).map(({ id }) => id);
    expect((await walk({ topicId, message: plain }, 500)).map(({ subscriptionId }) => subscriptionId)).toEqual(
      expected,
    );
  });

  test('returns exactly the recipients that the push filter allows', async () => {
    const tag = fc.constantFrom('a', 'A', 'ä', 'pump', '"', "'", '$in', '', 'a.b', '[]', '😀', '{"$ne":null}');
    const settings = fc.record({
      mobileEnabled: fc.boolean(),
      webEnabled: fc.boolean(),
      priorityThreshold: fc.integer({ min: 1, max: 5 }),
      tagsFilter: fc.array(tag, { maxLength: 3 }),
    });
    const message = fc.record({
      priority: fc.integer({ min: 1, max: 5 }) as fc.Arbitrary<Priority>,
      tags: fc.array(tag, { maxLength: 3 }),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(settings, { minLength: 1, maxLength: 8 }),
        fc.array(message, { minLength: 1, maxLength: 5 }),
        async (allSettings, messages) => {
          const topicId = newId();
          const all = allSettings.map((mobileSettings) => newSubscription(newId(), topicId, mobileSettings));
          await at().documents.commit(all.map((one) => write.insert(subscriptionCollection, one)));
          // Concurrently, because drivers may read pages of several messages together.
          await Promise.all(
            messages.map(async (one) => {
              const expected = all
                .filter((subscription) => passesPushFilter(subscription, one))
                .map(({ id }) => id)
                .sort();
              expect((await walk({ topicId, message: one }, 3)).map(({ subscriptionId }) => subscriptionId)).toEqual(
                expected,
              );
            }),
          );
          expect(await at().deliveries.topicsWithRecipients([topicId])).toEqual(
            new Set(allSettings.some(({ mobileEnabled, webEnabled }) => mobileEnabled || webEnabled) ? [topicId] : []),
          );
        },
      ),
      { numRuns: Number(process.env.MODEL_RUNS ?? 60), endOnFailure: false },
    );
  });

  test('returns the followed topics of users, of all of them or of the first ones', async () => {
    const [ann, bob, none] = [newId(), newId(), newId()].sort() as [string, string, string];
    const followed = (userId: string, topicId: string, lastViewedAt: number | null) => ({
      userId,
      topicId,
      createdAt: 5,
      lastViewedAt,
    });
    const expected = [
      followed(ann, newId(), null),
      followed(ann, newId(), 7),
      followed(bob, newId(), 8),
      followed(bob, newId(), null),
    ];
    for (const { userId, topicId, ...times } of expected)
      await subscribe(topicId, { ...times, mobileEnabled: times.lastViewedAt === null, webEnabled: false }, userId);
    const byTopic = (found: readonly { topicId: string }[]) =>
      [...found].sort((a, b) => (a.topicId < b.topicId ? -1 : 1));
    const read = await at().deliveries.followedTopics([bob, none, ann], 10);
    expect(byTopic(read)).toEqual(byTopic(expected));
    expect(read.map(({ userId }) => userId)).toEqual([ann, ann, bob, bob]);
    expect((await at().deliveries.followedTopics([bob, ann], 3)).map(({ userId }) => userId)).toEqual([ann, ann, bob]);
    expect(await at().deliveries.followedTopics([none], 10)).toEqual([]);
  });

  test('a topic has recipients while a subscription has mobile or web notifications on', async () => {
    const topicId = newId();
    const other = newId();
    const withRecipients = () => at().deliveries.topicsWithRecipients([topicId, newId(), other]);
    await subscribe(other, {});
    await subscribe(other, {});
    expect(await withRecipients()).toEqual(new Set([other]));
    for (let n = 0; n < 3; n++) await subscribe(topicId, { mobileEnabled: false, webEnabled: false });
    expect(await withRecipients()).toEqual(new Set([other]));
    for (const flags of [{ webEnabled: false }, { mobileEnabled: false }, {}]) {
      const on = await subscribe(topicId, { priorityThreshold: 5, ...flags });
      expect(await withRecipients()).toEqual(new Set([topicId, other]));
      await at().documents.remove(subscriptionCollection, on.id);
      expect(await withRecipients()).toEqual(new Set([other]));
    }
    expect(await at().deliveries.topicsWithRecipients([])).toEqual(new Set());
  });
}
