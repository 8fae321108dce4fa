import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Message } from '@tocsin/shared/domain/messages/message.ts';
import type { QuietHours } from '@tocsin/shared/domain/push/subscription.ts';
import { pushQueues, summaryJob, pageJob } from '@tocsin/shared/domain/push/push-job.ts';
import { devices } from '@tocsin/shared/collections/devices-collection.ts';
import { subscriptions } from '@tocsin/shared/collections/subscriptions-collection.ts';
import { newDevice } from '@tocsin/shared/testing/builders.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { engineUnderTest, enginesUnderTest } from '@tocsin/shared/testing/test-engine.ts';
import { openPushInstallation, type PushInstallation, type Subscriber } from '../push-installation.fixtures.ts';

const dayMs = 86_400_000;
const hourMs = 3_600_000;
const quietHours: QuietHours = { start: '22:00', end: '05:00', timezone: 'Etc/UTC', allowPriority: 5 };

describe(`held-back messages, ${engineUnderTest}`, () => {
  let at: PushInstallation;
  /** Sets the clock to the hour of the next day in UTC; resolves with that day's midnight. */
  const setHour = (hour: number): number => {
    const midnight = (Math.floor(Date.now() / dayMs) + 1) * dayMs;
    at.setAhead(midnight + hour * hourMs - Date.now());
    return midnight;
  };
  const rows = async (messageId: string, { device }: Subscriber) =>
    (await at.engine.deliveries.find(messageId, { deviceIds: [device.id], limit: 10 })).map(({ status, reason }) => [
      status,
      reason,
    ]);
  const pushesTo = ({ device }: Subscriber) =>
    at.expo.pushes.filter(({ token }) => token === device.pushToken).map(({ message }) => message);
  const summariesTo = (subscriber: Subscriber) =>
    pushesTo(subscriber).filter(({ data }) => (data as { summary?: string }).summary !== undefined);

  /** A cluster's queue uses the real clock, which does not reach the end of the night. */
  const endNight = async ({ subscription: { id } }: Subscriber, midnight: number): Promise<void> => {
    const of = { why: 'quiet_hours', from: midnight - 2 * hourMs, to: midnight + 5 * hourMs, priorityMax: 4 } as const;
    if (engineUnderTest === 'cluster')
      await at.engine.jobQueue.add(pushQueues.normal, [summaryJob({ subscriptionId: id, of }, { at: 0, now: 0 })]);
  };

  beforeEach(async () => {
    at = await openPushInstallation(enginesUnderTest());
  });
  afterEach(() => at.close());

  test('pushes only permitted messages in quiet hours, and a summary at the end', async () => {
    const midnight = setHour(1);
    const topic = await at.addTopic();
    const [asleep, awake] = [
      await at.addSubscriber(topic, { subscription: { quietHours, tagsFilter: ['a'], createdAt: midnight - dayMs } }),
      await at.addSubscriber(topic),
    ];
    await at.start();
    const messages = [
      await at.publish(topic, { tags: ['a'] }),
      await at.publish(topic, { tags: ['b'] }),
      await at.publish(topic, { tags: ['a', 'b'], priority: 4 }),
    ];
    const alarm = await at.publish(topic, { priority: 5, tags: ['a'] });
    await eventually(() => expect(pushesTo(awake)).toHaveLength(4));
    const held = ['skipped', 'quiet hours from 22:00 to 05:00, Etc/UTC'];
    await eventually(async () => {
      expect(
        await Promise.all([messages[0]!, messages[1]!, messages[2]!, alarm].map(({ id }) => rows(id, asleep))),
      ).toEqual([[held], [], [held], [['sent', null]]]);
    });
    expect(await at.engine.jobQueue.counts(pushQueues.normal)).toMatchObject({ delayed: 1 });

    setHour(5);
    await endNight(asleep, midnight);
    await eventually(() => expect(summariesTo(asleep)).toHaveLength(1));
    expect(summariesTo(asleep)[0]).toMatchObject({
      title: topic.name,
      body: '2 messages came in quiet hours',
      data: { summary: 'quiet_hours', count: 2, topic: topic.name, topic_id: topic.id },
    });
    const morning = await at.publish(topic, { tags: ['a'] });
    await eventually(async () => expect(await rows(morning.id, asleep)).toEqual([['sent', null]]));
    expect(pushesTo(asleep)).toHaveLength(3);
    expect(summariesTo(awake)).toEqual([]);
  });

  test('counts messages published in quiet hours but processed later only in the summary', async () => {
    const midnight = setHour(1);
    const topic = await at.addTopic();
    const [asleep, awake] = [
      await at.addSubscriber(topic, { subscription: { quietHours, createdAt: midnight - dayMs } }),
      await at.addSubscriber(topic),
    ];
    const late = [await at.publish(topic), await at.publish(topic)];
    const alarm = await at.publish(topic, { priority: 5 });
    setHour(6);
    await at.start({ renewalMs: 200 });
    await eventually(() => expect(pushesTo(awake)).toHaveLength(3));
    const held = ['skipped', 'quiet hours from 22:00 to 05:00, Etc/UTC'];
    await eventually(async () =>
      expect(await Promise.all([...late, alarm].map(({ id }) => rows(id, asleep)))).toEqual([
        [held],
        [held],
        [['sent', null]],
      ]),
    );
    await eventually(() =>
      expect(summariesTo(asleep).at(-1)).toMatchObject({ body: '2 messages came in quiet hours' }),
    );
    expect(pushesTo(asleep)).toHaveLength(1 + summariesTo(asleep).length);
  });

  test('counts messages published before quiet hours whose push fell into them', async () => {
    const noon = setHour(12) + 12 * hourMs;
    const topic = await at.addTopic();
    const asleep = await at.addSubscriber(topic, { subscription: { quietHours, createdAt: noon - dayMs } });
    const [first, second] = [await at.publish(topic), await at.publish(topic)];
    const midnight = setHour(23);
    await at.start({ renewalMs: 200 });
    const held = ['skipped', 'quiet hours from 22:00 to 05:00, Etc/UTC'];
    await eventually(async () =>
      expect(await Promise.all([first, second].map(({ id }) => rows(id, asleep)))).toEqual([[held], [held]]),
    );
    // The same page again counts nothing twice.
    const { id, ...job } = pageJob(
      { messageId: first.id, topicId: topic.id, after: null, publishedAt: first.timestamp },
      first.priority,
    );
    await at.engine.jobQueue.add(pushQueues.normal, [{ ...job, id: `${id}.again` }]);
    await eventually(async () =>
      expect(await at.engine.jobQueue.counts(pushQueues.normal)).toMatchObject({ waiting: 0, active: 0 }),
    );
    setHour(30);
    await endNight(asleep, midnight + dayMs);
    await eventually(() =>
      expect(summariesTo(asleep).at(-1)).toMatchObject({ body: '2 messages came in quiet hours' }),
    );
  });

  test('sends no summary to users who unsubscribed, lost access, or had no messages', async () => {
    const midnight = setHour(6);
    const topic = await at.addTopic({ accessLevel: 'private' });
    const gone = await at.addSubscriber(topic, { subscription: { quietHours } });
    const stranger = await at.addSubscriber(topic, { subscription: { quietHours } });
    const open = await at.addTopic();
    const rested = await at.addSubscriber(open, { subscription: { quietHours } });
    await at.engine.documents.remove(subscriptions, gone.subscription.id);
    await at.publish(topic, { timestamp: midnight + hourMs });
    await at.start();
    const of = { why: 'quiet_hours', from: midnight - 2 * hourMs, to: midnight + 5 * hourMs, priorityMax: 4 } as const;
    const jobs = [gone, stranger, rested].map(({ subscription }) =>
      summaryJob({ subscriptionId: subscription.id, of }, { at: 0, now: 0 }),
    );
    await at.engine.jobQueue.add(pushQueues.normal, jobs);
    await at.idle();
    expect([gone, stranger, rested].flatMap(summariesTo)).toEqual([]);
  });

  test('pushes and updates a summary beyond the limit per minute', async () => {
    at.setAhead(60_000 - (Date.now() % 60_000)); // a whole minute is left
    const topic = await at.addTopic();
    const [limited, all] = [
      await at.addSubscriber(topic, { subscription: { maxPerMinute: 2 } }),
      await at.addSubscriber(topic),
    ];
    await at.start({ renewalMs: 500 });
    const first: Message[] = [];
    for (let sent = 0; sent < 5; sent++) first.push(await at.publish(topic));
    await eventually(() => expect(pushesTo(all)).toHaveLength(5));
    await eventually(async () => {
      const states = (await Promise.all(first.map(({ id }) => rows(id, limited))))
        .flat()
        .map(([status, reason]) => `${status}: ${reason}`)
        .sort();
      const over = 'skipped: more than 2 within a minute';
      expect(states).toEqual(['sent: null', 'sent: null', over, over, over]);
    });
    await eventually(() =>
      expect(summariesTo(limited).at(-1)).toMatchObject({
        body: `3 more in ${topic.name}`,
        data: { summary: 'max_per_minute', count: 3 },
        sound: null,
      }),
    );
    expect(pushesTo(limited)).toHaveLength(2 + summariesTo(limited).length);
    await at.publish(topic);
    await eventually(() => expect(summariesTo(limited).at(-1)).toMatchObject({ body: `4 more in ${topic.name}` }));
    expect(new Set(summariesTo(limited).map(({ collapseId }) => collapseId)).size).toBe(1);
  });

  test('counts each message once if a page is processed again', async () => {
    at.setAhead(60_000 - (Date.now() % 60_000)); // a whole minute is left
    const topic = await at.addTopic();
    const subscriber = await at.addSubscriber(topic, { subscription: { maxPerMinute: 2 } });
    await at.start();
    const first = await at.publish(topic);
    await eventually(async () => expect(await rows(first.id, subscriber)).toEqual([['sent', null]]));
    for (let again = 0; again < 3; again++) {
      const { id, ...job } = pageJob(
        { messageId: first.id, topicId: topic.id, after: null, publishedAt: first.timestamp },
        first.priority,
      );
      await at.engine.jobQueue.add(pushQueues.normal, [{ ...job, id: `${id}.${again}` }]);
    }
    await at.idle();
    const second = await at.publish(topic);
    await eventually(async () => expect(await rows(second.id, subscriber)).toEqual([['sent', null]]));
    const third = await at.publish(topic);
    await eventually(async () =>
      expect(await rows(third.id, subscriber)).toEqual([['skipped', 'more than 2 within a minute']]),
    );
  });

  test('keeps pushes within the limit if a page is processed again', async () => {
    at.setAhead(60_000 - (Date.now() % 60_000)); // a whole minute is left
    const topic = await at.addTopic();
    const subscriber = await at.addSubscriber(topic, { subscription: { maxPerMinute: 1 } });
    at.expo.script(subscriber.device.pushToken, { kind: 'status', status: 503 }, { kind: 'ok' });
    await at.start({ backoffMs: 2_000, renewalMs: 60_000 });
    const first = await at.publish(topic);
    await eventually(async () => expect(await rows(first.id, subscriber)).toEqual([['retrying', 'Expo returned 503']]));
    const second = await at.publish(topic);
    await eventually(async () =>
      expect(await rows(second.id, subscriber)).toEqual([['skipped', 'more than 1 within a minute']]),
    );
    const { id, ...job } = pageJob(
      { messageId: first.id, topicId: topic.id, after: null, publishedAt: first.timestamp },
      first.priority,
    );
    await at.engine.jobQueue.add(pushQueues.normal, [{ ...job, id: `${id}.again` }]);
    await eventually(async () => expect(await rows(first.id, subscriber)).toEqual([['sent', null]]));
  });

  test('retries a summary later, only for devices that missed it', async () => {
    const midnight = setHour(1);
    const topic = await at.addTopic();
    const subscriber = await at.addSubscriber(topic, { subscription: { quietHours, createdAt: midnight - dayMs } });
    const second = await at.engine.documents.insert(devices, newDevice(subscriber.user.id));
    await at.start({ backoffMs: 50 });
    const [held, alarm] = [await at.publish(topic), await at.publish(topic, { priority: 5 })];
    await eventually(async () =>
      expect([await rows(held.id, subscriber), await rows(alarm.id, { ...subscriber, device: second })]).toMatchObject([
        [['skipped', expect.stringMatching(/^quiet hours/)]],
        [['sent', null]],
      ]),
    );
    at.expo.script(second.pushToken, { kind: 'status', status: 503 }, { kind: 'ok' });
    setHour(5);
    await endNight(subscriber, midnight);
    await eventually(() => expect(summariesTo(subscriber)).toHaveLength(1));
    expect(summariesTo(subscriber)[0]).toMatchObject({ body: '1 message came in quiet hours' });
    await eventually(() => expect(summariesTo({ ...subscriber, device: second })).toHaveLength(1));
    const next = await at.publish(topic, { priority: 5 });
    await eventually(async () => expect(await rows(next.id, subscriber)).toEqual([['sent', null]]));
    expect([summariesTo(subscriber).length, summariesTo({ ...subscriber, device: second }).length]).toEqual([1, 1]);
  });
});
