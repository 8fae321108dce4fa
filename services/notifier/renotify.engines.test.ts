import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Message } from '@tocsin/shared/domain/messages/message.ts';
import { pushQueueOf, pushQueues, renotifyTopicJob, pageJob } from '@tocsin/shared/domain/push/push-job.ts';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import type { Claim, Outcome } from '@tocsin/shared/ports/deliveries.ts';
import { subscriptions } from '@tocsin/shared/collections/subscriptions-collection.ts';
import { newId, newMessage } from '@tocsin/shared/testing/builders.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { engineUnderTest, enginesUnderTest } from '@tocsin/shared/testing/test-engine.ts';
import {
  openPushInstallation,
  untilQueuesEmpty,
  type PushInstallation,
  type Subscriber,
} from './push-installation.fixtures.ts';

const dayMs = 86_400_000;

describe(`push replay, ${engineUnderTest}`, () => {
  let at: PushInstallation;
  let topic: Topic;
  beforeEach(async () => {
    at = await openPushInstallation(enginesUnderTest());
    topic = await at.addTopic();
  });
  afterEach(() => at.close());

  const claimOf = ({ user, subscription, device }: Subscriber, messageId: string): Claim => ({
    messageId,
    deviceId: device.id,
    topicId: topic.id,
    userId: user.id,
    subscriptionId: subscription.id,
    platform: 'expo',
  });
  const record = (subscriber: Subscriber, messageId: string, outcome: Pick<Outcome, 'status'> & Partial<Outcome>) =>
    at.engine.deliveries.record([{ ...claimOf(subscriber, messageId), reason: 'x', ...outcome }], at.clock());
  const renotify = ({ id, timestamp, priority }: Message) =>
    at.engine.jobQueue.add(pushQueueOf(priority), [
      pageJob({ messageId: id, topicId: topic.id, after: null, publishedAt: timestamp, renotify: newId() }, priority),
    ]);
  const reached = (messageId: string) =>
    at.expo.pushes.flatMap((push) => (push.messageId === messageId ? [push.token] : [])).sort();
  let offset = 0;
  /** A message that is in the store and not in the log, so that the notifier does not see it otherwise. */
  async function stored(given: Partial<Message> = {}): Promise<Message> {
    const message = newMessage(topic.id, { timestamp: at.clock(), expiresAt: at.clock() + dayMs, ...given });
    offset += 1;
    await at.engine.messages.apply([
      { partition: topic.partition, offset, record: { type: 'message', timestamp: message.timestamp, message } },
    ]);
    return message;
  }

  test('pushes once to devices that missed the message for any reason, and not to sent, retrying or claimed ones', async () => {
    const everyone = await Promise.all(
      Array.from({ length: 11 }, () =>
        at.addSubscriber(topic, { subscription: { createdAt: 1 }, device: { createdAt: 1 } }),
      ),
    );
    const [unknown, failed, skipped, dead, sent, retrying, claimed] = everyone;
    await at.engine.documents.update(subscriptions, everyone[7]!.subscription, { createdAt: at.clock() + dayMs });
    await at.engine.documents.update(subscriptions, everyone[8]!.subscription, { mobileEnabled: false });
    const message = await stored();
    const claim = claimOf(claimed!, message.id);
    await at.engine.deliveries.claim([claim], { now: at.clock(), staleAfterMs: 8_000 });
    await record(failed!, message.id, { status: 'failed' });
    await record(skipped!, message.id, { status: 'skipped', reason: 'not configured' });
    await record(everyone[9]!, message.id, {
      status: 'skipped',
      reason: 'quiet hours from 22:00 to 07:00, Europe/Vienna',
    });
    await record(everyone[10]!, message.id, { status: 'skipped', reason: 'more than 3 within a minute' });
    await record(dead!, message.id, { status: 'dead_token' });
    await record(sent!, message.id, { status: 'sent' });
    await record(retrying!, message.id, { status: 'retrying', retryAt: at.clock() + dayMs });
    for (let time = 0; time < 3; time++) await renotify(message);
    await at.start({ firstPageSize: 2, pageSize: 4, claimStaleMs: 8_000 });
    const missed = [unknown, failed, skipped, dead].map((subscriber) => subscriber!.device.pushToken);
    await eventually(() => expect(reached(message.id)).toEqual(expect.arrayContaining(missed)));
    // Held by a claim whose owner will record the outcome.
    await at.engine.deliveries.record([{ ...claim, status: 'sent', reason: null }], at.clock());
    await untilQueuesEmpty(at);
    expect(reached(message.id)).toEqual(missed.sort());
  });

  test('replays a topic’s messages of a period over several pages, without earlier, later, expired or too old ones', async () => {
    const { device } = await at.addSubscriber(topic, { subscription: { createdAt: 1 }, device: { createdAt: 1 } });
    const now = at.clock();
    const times = Array.from({ length: 130 }, (_, place) => now - 3_600_000 + place * 1_000);
    const messages: Message[] = [await stored({ timestamp: now - 8 * dayMs, expiresAt: now + dayMs })];
    for (const timestamp of times)
      messages.push(await stored({ timestamp, expiresAt: timestamp === times[60] ? now - 1 : now + dayMs }));
    for (const { id } of messages)
      await at.engine.deliveries.record(
        [
          {
            messageId: id,
            deviceId: device.id,
            topicId: topic.id,
            userId: device.userId,
            subscriptionId: newId(),
            platform: 'expo',
            status: 'failed',
            reason: 'x',
          },
        ],
        now,
      );
    await at.engine.jobQueue.add(pushQueues.normal, [
      renotifyTopicJob({ topicId: topic.id, from: 0, to: times[119]!, after: null, request: newId() }),
    ]);
    await at.start();
    const expected = messages
      .slice(1)
      .filter((_, place) => place <= 119 && place !== 60)
      .map(({ id }) => id);
    await eventually(() =>
      expect(new Set(at.expo.pushes.map(({ messageId }) => messageId))).toEqual(new Set(expected)),
    );
    await untilQueuesEmpty(at);
    expect(at.expo.duplicates().size).toBe(0);
    expect(at.expo.pushes).toHaveLength(expected.length);
  });
});
