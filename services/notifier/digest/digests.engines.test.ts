import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { deletionRecord, editRecord } from '@tocsin/shared/domain/messages/message-changes.ts';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import type { Subscription } from '@tocsin/shared/domain/push/subscription.ts';
import { devices } from '@tocsin/shared/collections/devices-collection.ts';
import { digestItems, digests, type Digest } from '@tocsin/shared/collections/push/digests.ts';
import { subscriptions } from '@tocsin/shared/collections/subscriptions-collection.ts';
import { topics } from '@tocsin/shared/collections/topics.ts';
import { newDevice, newPolicy, newSubscription } from '@tocsin/shared/testing/builders.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { engineUnderTest, enginesUnderTest } from '@tocsin/shared/testing/test-engine.ts';
import {
  deliveriesOf,
  openPushInstallation,
  tokensOf,
  type PushInstallation,
  type Subscriber,
} from '../push-installation.fixtures.ts';

const [minuteMs, hourMs, dayMs] = [60_000, 3_600_000, 86_400_000];
const timeout = { timeoutMs: 20_000 };

describe(`digests, ${engineUnderTest}`, () => {
  let at: PushInstallation;
  let aheadMs: number;
  beforeEach(async () => {
    at = await openPushInstallation(enginesUnderTest());
    aheadMs = 0;
  });
  afterEach(() => at.close());

  const jump = (ms: number): void => at.setAhead((aheadMs += ms));
  const digestsOf = ({ user }: Subscriber): Promise<Digest[]> =>
    at.engine.documents.find(digests, { index: 'byUser', equals: { userId: user.id }, limit: 10 });
  const pushesTo = ({ device }: { device: Subscriber['device'] }) =>
    at.expo.pushes.filter(({ token }) => token === device.pushToken).map(({ message }) => message);
  const reasonsOf = async ({ id }: { id: string }) =>
    (await deliveriesOf(at, id)).map(({ status, reason }) => [status, reason]);
  const untilCollected = (...messages: readonly { id: string }[]) =>
    eventually(async () => {
      for (const message of messages)
        expect(await reasonsOf(message)).toEqual([['skipped', expect.stringMatching(/^collected for the digest at /)]]);
    }, timeout);
  const untilOver = (subscriber: Subscriber) =>
    eventually(async () => expect(await digestsOf(subscriber)).toEqual([]), timeout);
  const subscribe = async (topic: Topic, { user, device }: Subscriber, given: Partial<Subscription>) => ({
    user,
    device,
    subscription: await at.engine.documents.insert(subscriptions, newSubscription(user.id, topic.id, given)),
  });
  const change = async ({ subscription: { id } }: Subscriber, set: Partial<Subscription>) => {
    const stored = (await at.engine.documents.get(subscriptions, id))!;
    await at.engine.documents.update(subscriptions, stored, set);
  };

  test('collects the priorities 1 to 3 of all topics with the same interval into one push per device', async () => {
    const [one, two] = [await at.addTopic(), await at.addTopic()];
    const first = await at.addSubscriber(one, { subscription: { digest: '15m' } });
    await subscribe(two, first, { digest: '15m' });
    const other = await at.engine.documents.insert(devices, newDevice(first.user.id));
    await at.start();
    const messages = [
      await at.publish(one, { priority: 1, title: 'Oldest' }),
      await at.publish(two, { priority: 2, title: null, message: 'Second\nline' }),
      await at.publish(one, { priority: 3, title: 'Newest' }),
    ];
    const urgent = [await at.publish(one, { priority: 4 }), await at.publish(two, { priority: 5 })];
    for (const { id } of urgent)
      await eventually(
        () => expect(tokensOf(at, id).sort()).toEqual([first.device.pushToken, other.pushToken].sort()),
        timeout,
      );
    await eventually(async () => {
      for (const message of messages)
        expect(await reasonsOf(message)).toEqual([
          ['skipped', expect.stringMatching(/^collected/)],
          ['skipped', expect.stringMatching(/^collected/)],
        ]);
    }, timeout);
    const [digest, ...more] = await digestsOf(first);
    expect(more).toEqual([]);
    expect(digest!.dueAt - digest!.decidedAt).toBe(15 * minuteMs);
    jump(14 * minuteMs);
    await at.idle();
    expect(pushesTo(first)).toHaveLength(2);
    jump(minuteMs);
    await untilOver(first);
    for (const device of [first.device, other]) {
      const [push, ...further] = pushesTo({ device }).slice(2);
      expect(further).toEqual([]);
      expect(push).toMatchObject({
        title: '3 messages in 2 topics',
        body: [`${one.name}: Newest`, `${two.name}: Second line`, `${one.name}: Oldest`].join('\n'),
        sound: 'default',
        interruptionLevel: 'active',
        collapseId: `digest.${messages[0]!.id}`,
        data: {
          event: 'digest',
          count: 3,
          topic_count: 2,
          topics: [
            { topic: one.name, topic_id: one.id, count: 2 },
            { topic: two.name, topic_id: two.id, count: 1 },
          ],
        },
      });
    }
    for (const message of messages)
      expect(await reasonsOf(message)).toEqual([
        ['sent', expect.stringMatching(/^in the digest at /)],
        ['sent', expect.stringMatching(/^in the digest at /)],
      ]);
    expect(await at.engine.documents.count(digestItems, { index: 'byUser', equals: { userId: first.user.id } })).toBe(
      0,
    );
    await eventually(async () =>
      expect((await at.engine.documents.get(subscriptions, first.subscription.id))!.lastNotifiedAt).not.toBeNull(),
    );
  });

  test('low and silent messages make a silent digest, and the next message starts another window', async () => {
    const topic = await at.addTopic();
    const reader = await at.addSubscriber(topic, { subscription: { digest: '1h' } });
    await at.start();
    await untilCollected(
      await at.publish(topic, { priority: 2 }),
      await at.publish(topic, { priority: 3, isSilent: true }),
    );
    jump(hourMs);
    await untilOver(reader);
    expect(pushesTo(reader)).toMatchObject([
      { title: `2 messages in ${topic.name}`, sound: null, interruptionLevel: 'passive' },
    ]);
    await untilCollected(await at.publish(topic, { priority: 3, title: 'Later' }));
    jump(hourMs);
    await untilOver(reader);
    const [before, after] = pushesTo(reader);
    expect(after).toMatchObject({ title: `1 message in ${topic.name}`, body: 'Later', sound: 'default' });
    expect(after!.collapseId).not.toBe(before!.collapseId);
  });

  test('a daily digest is sent at its time in its zone', async () => {
    const topic = await at.addTopic();
    const quietHours = { start: '01:00', end: '02:00', timezone: 'Asia/Kolkata', allowPriority: 5 };
    const reader = await at.addSubscriber(topic, { subscription: { digest: '1d', digestAt: '18:30', quietHours } });
    await at.start();
    await untilCollected(await at.publish(topic));
    const [digest] = await digestsOf(reader);
    expect(digest!.dueAt).toBeGreaterThan(at.clock() - minuteMs);
    expect(digest!.dueAt).toBeLessThanOrEqual(at.clock() + dayMs);
    // 18:30 in Kolkata is 13:00 in UTC.
    expect(new Date(digest!.dueAt).toISOString().slice(10)).toBe('T13:00:00.000Z');
  });

  test('messages that are read, deleted or expired, or whose topic is lost, are not in it', async () => {
    const [kept, read, lost] = [await at.addTopic(), await at.addTopic(), await at.addTopic()];
    const reader = await at.addSubscriber(kept, { subscription: { digest: '15m' } });
    const ofRead = await subscribe(read, reader, { digest: '15m' });
    await subscribe(lost, reader, { digest: '15m' });
    await at.start();
    const messages = {
      current: await at.publish(kept, { title: 'Before' }),
      deleted: await at.publish(kept),
      expired: await at.publish(kept, { expiresAt: at.clock() + 5 * minuteMs }),
      read: await at.publish(read),
      lost: await at.publish(lost),
    };
    await untilCollected(...Object.values(messages));
    const stored = async ({ id }: { id: string }) => (await at.engine.messages.find(id))!;
    await at.append(kept, deletionRecord(await stored(messages.deleted), at.clock()));
    await at.append(kept, editRecord(await stored(messages.current), { title: 'After' }, at.clock()));
    await change(ofRead, { lastViewedAt: at.clock() });
    await at.engine.documents.update(topics, (await at.engine.documents.get(topics, lost.id))!, {
      accessLevel: 'private',
    });
    jump(15 * minuteMs);
    await untilOver(reader);
    expect(pushesTo(reader)).toMatchObject([{ title: `1 message in ${kept.name}`, body: 'After' }]);
    for (const [name, reason] of [
      ['deleted', 'message deleted'],
      ['expired', 'message expired'],
      ['read', 'read before the digest'],
      ['lost', 'no access'],
    ] as const)
      expect({ name, rows: await reasonsOf(messages[name]) }).toEqual({ name, rows: [['skipped', reason]] });
    // A message that was only in a digest has no notification to replace.
    await at.append(kept, deletionRecord(await stored(messages.current), at.clock()));
    await at.idle();
    expect(pushesTo(reader)).toHaveLength(1);
  });

  test('a message that a replacement raises is pushed immediately and is not in the digest', async () => {
    const topic = await at.addTopic({ escalation: newPolicy({ repeatMax: 0 }) });
    const reader = await at.addSubscriber(topic, { subscription: { digest: '15m' } });
    await at.start();
    const [raised, other] = [await at.publish(topic), await at.publish(topic)];
    await untilCollected(raised, other);
    const stored = (await at.engine.messages.find(raised.id))!;
    await at.append(topic, editRecord(stored, { priority: 5, requiresAck: true }, at.clock()));
    await eventually(() => expect(tokensOf(at, raised.id)).toEqual([reader.device.pushToken]), timeout);
    jump(15 * minuteMs);
    await untilOver(reader);
    expect(pushesTo(reader)).toMatchObject([{}, { title: `1 message in ${topic.name}` }]);
    expect(await reasonsOf(raised)).toEqual([['skipped', 'pushed by its escalation']]);
  });

  test('nothing is pushed if nothing is left, and to no device that was removed', async () => {
    const [topic, other] = [await at.addTopic(), await at.addTopic()];
    const reader = await at.addSubscriber(topic, { subscription: { digest: '15m' } });
    const removed = await at.addSubscriber(other, { subscription: { digest: '15m' } });
    await at.start();
    const [message, ofRemoved] = [await at.publish(topic), await at.publish(other)];
    await untilCollected(message, ofRemoved);
    await change(reader, { lastViewedAt: at.clock() });
    await at.engine.documents.remove(devices, removed.device.id);
    jump(15 * minuteMs);
    await untilOver(reader);
    await untilOver(removed);
    expect([...pushesTo(reader), ...pushesTo(removed)]).toEqual([]);
    expect(await reasonsOf(ofRemoved)).toEqual([['skipped', 'device is inactive']]);
  });

  test('a digest waits for the end of the quiet hours, and the night has no summary of its messages', async () => {
    const midnight = (Math.floor(Date.now() / dayMs) + 1) * dayMs;
    jump(midnight + 4.9 * hourMs - Date.now());
    const quietHours = { start: '22:00', end: '06:00', timezone: 'Etc/UTC', allowPriority: 5 };
    const topic = await at.addTopic();
    const reader = await at.addSubscriber(topic, {
      subscription: { digest: '15m', quietHours, createdAt: midnight - dayMs },
      device: { createdAt: midnight - dayMs },
    });
    await at.start();
    const message = await at.publish(topic, { priority: 3 });
    await untilCollected(message);
    jump(15 * minuteMs);
    const end = new Date(midnight + 6 * hourMs).toISOString();
    await eventually(
      async () => expect(await reasonsOf(message)).toEqual([['skipped', `collected for the digest at ${end}`]]),
      timeout,
    );
    expect(pushesTo(reader)).toEqual([]);
    jump(midnight + 6 * hourMs - at.clock());
    await untilOver(reader);
    expect(pushesTo(reader)).toMatchObject([{ title: `1 message in ${topic.name}` }]);
    await at.idle();
    expect(pushesTo(reader)).toHaveLength(1);
  });

  test('after a change of the setting, waiting messages come with their digest and new ones by the new setting', async () => {
    const topic = await at.addTopic();
    const reader = await at.addSubscriber(topic, { subscription: { digest: '1h' } });
    await at.start();
    const waiting = await at.publish(topic);
    await untilCollected(waiting);
    await change(reader, { digest: null });
    const message = await at.publish(topic);
    await eventually(() => expect(tokensOf(at, message.id)).toEqual([reader.device.pushToken]), timeout);
    jump(hourMs);
    await untilOver(reader);
    expect(pushesTo(reader)).toMatchObject([{}, { title: `1 message in ${topic.name}` }]);
    expect(await reasonsOf(waiting)).toEqual([['sent', expect.stringMatching(/^in the digest/)]]);
  });

  test('the limit per minute does not apply, and a message that requires an acknowledgement is pushed immediately', async () => {
    const topic = await at.addTopic();
    const reader = await at.addSubscriber(topic, { subscription: { digest: '1h', maxPerMinute: 1 } });
    await at.start();
    const messages = [await at.publish(topic), await at.publish(topic), await at.publish(topic)];
    await untilCollected(...messages);
    const asked = await at.publish(topic, { priority: 3, requiresAck: true });
    await eventually(() => expect(tokensOf(at, asked.id)).toEqual([reader.device.pushToken]), timeout);
    jump(hourMs);
    await untilOver(reader);
    expect(pushesTo(reader)).toMatchObject([{}, { title: `3 messages in ${topic.name}` }]);
  });

  test('a provider that is down gets the digest when it is back, and a refused one fails', async () => {
    const topic = await at.addTopic();
    const [reader, refused] = [
      await at.addSubscriber(topic, { subscription: { digest: '15m' } }),
      await at.addSubscriber(topic, { subscription: { digest: '15m' } }),
    ];
    at.expo.script(reader.device.pushToken, { kind: 'ticket-error', error: 'MessageRateExceeded' });
    at.expo.script(refused.device.pushToken, { kind: 'ticket-error', error: 'DeviceNotRegistered' });
    await at.start({ backoffMs: 100 });
    const message = await at.publish(topic);
    const rowOf = async ({ device }: Subscriber) =>
      (await at.engine.deliveries.find(message.id, { deviceIds: [device.id], limit: 1 }))[0];
    await eventually(async () => {
      for (const one of [reader, refused]) expect(await rowOf(one)).toMatchObject({ status: 'skipped' });
    }, timeout);
    jump(15 * minuteMs);
    await untilOver(refused);
    expect(await rowOf(refused)).toMatchObject({ status: 'dead_token', reason: 'DeviceNotRegistered' });
    await eventually(async () => expect((await digestsOf(reader))[0]!.round).toBeGreaterThan(1), timeout);
    at.expo.script(reader.device.pushToken, { kind: 'ok' });
    await untilOver(reader);
    expect(pushesTo(reader)).toMatchObject([{ collapseId: `digest.${message.id}` }]);
    expect(await rowOf(reader)).toMatchObject({ status: 'sent' });
  });

  test('a clock that is set back by an hour delays a digest by no more than its interval', async () => {
    jump(hourMs);
    const topic = await at.addTopic();
    const reader = await at.addSubscriber(topic, { subscription: { digest: '15m', createdAt: at.clock() } });
    await at.start();
    await untilCollected(await at.publish(topic));
    jump(-hourMs);
    await eventually(async () => {
      const [digest] = await digestsOf(reader);
      expect(digest!.dueAt).toBeLessThanOrEqual(at.clock() + 15 * minuteMs);
    }, timeout);
    jump(15 * minuteMs);
    await untilOver(reader);
    expect(pushesTo(reader)).toHaveLength(1);
  });

  test('several notifiers send a digest once', async () => {
    const topic = await at.addTopic();
    const readers = await Promise.all(
      Array.from({ length: 20 }, () => at.addSubscriber(topic, { subscription: { digest: '15m' } })),
    );
    for (let count = 0; count < 3; count++) await at.start();
    const message = await at.publish(topic);
    await eventually(async () => expect((await at.engine.deliveries.counts(message.id)).skipped).toBe(20), timeout);
    jump(15 * minuteMs);
    for (const reader of readers) await untilOver(reader);
    for (const reader of readers) expect(pushesTo(reader)).toHaveLength(1);
    expect((await at.engine.deliveries.counts(message.id)).sent).toBe(20);
  });
});
