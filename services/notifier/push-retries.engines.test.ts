import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Registry } from 'prom-client';
import { pushQueueOf, sendJob } from '@tocsin/shared/domain/push/push-job.ts';
import { devices } from '@tocsin/shared/collections/devices-collection.ts';
import { subscriptions } from '@tocsin/shared/collections/subscriptions-collection.ts';
import { users } from '@tocsin/shared/collections/users.ts';
import { newId } from '@tocsin/shared/testing/builders.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { engineUnderTest, enginesUnderTest } from '@tocsin/shared/testing/test-engine.ts';
import { scriptedGateway } from './providers/scripted-gateway.fixtures.ts';
import { deliveriesOf, openPushInstallation, tokensOf, type PushInstallation } from './push-installation.fixtures.ts';

describe(`the notifier, ${engineUnderTest}`, () => {
  let at: PushInstallation;
  beforeEach(async () => {
    at = await openPushInstallation(enginesUnderTest());
  });
  afterEach(() => at.close());

  test('retries a push once after the time that the provider asked for', async () => {
    const topic = await at.addTopic();
    const { device } = await at.addSubscriber(topic);
    at.expo.script(device.pushToken, { kind: 'status', status: 429, retryAfterSeconds: 3 }, { kind: 'ok' });
    await at.start({ backoffMs: 10 });
    const message = await at.publish(topic);
    await eventually(async () =>
      expect(await deliveriesOf(at, message.id)).toMatchObject([{ status: 'retrying', reason: 'Expo returned 429' }]),
    );
    await eventually(async () =>
      expect(await deliveriesOf(at, message.id)).toMatchObject([{ status: 'sent', attempts: 2 }]),
    );
    const [first, second] = at.expo.requests;
    expect(second!.at - first!.at).toBeGreaterThanOrEqual(3_000);
    expect(at.expo.requests).toHaveLength(2);
  });

  test('leaves a claimed push to its worker until the claim is stale', async () => {
    const topic = await at.addTopic();
    const [claimed, free] = [await at.addSubscriber(topic), await at.addSubscriber(topic)];
    const messageId = newId();
    const claim = {
      messageId,
      deviceId: claimed.device.id,
      topicId: topic.id,
      userId: claimed.user.id,
      subscriptionId: claimed.subscription.id,
      platform: 'expo' as const,
    };
    const claimedAt = at.clock();
    await at.engine.deliveries.claim([claim], { now: claimedAt, staleAfterMs: 1_000 });
    await at.start({ claimStaleMs: 3_000 });
    await at.publish(topic, { id: messageId });
    await eventually(() => expect(tokensOf(at, messageId)).toEqual([free.device.pushToken]));
    await eventually(() => expect(tokensOf(at, messageId)).toEqual([free.device.pushToken, claimed.device.pushToken]));
    expect(at.expo.pushes.at(-1)!.at - claimedAt).toBeGreaterThanOrEqual(3_000);
    await eventually(async () =>
      expect(await at.engine.deliveries.counts(messageId)).toMatchObject({ sent: 2, pending: 0 }),
    );
  });

  test('retries only pushes with temporary errors', async () => {
    const topic = await at.addTopic();
    const tokens = await at.addSubscribers(topic, 20);
    for (const token of tokens.slice(0, 3))
      at.expo.script(token, { kind: 'ticket-error', error: 'MessageRateExceeded' }, { kind: 'ok' });
    await at.start({ backoffMs: 20 });
    const message = await at.publish(topic);
    await eventually(async () => expect(await at.engine.deliveries.counts(message.id)).toMatchObject({ sent: 20 }));
    expect(at.expo.requests.map(({ size }) => size)).toEqual([20, 3]);
    expect(at.expo.duplicates().size).toBe(0);
  });

  test('a rate-limited device does not delay others of its batch', async () => {
    const topic = await at.addTopic();
    const [busy, other] = [await at.addSubscriber(topic), await at.addSubscriber(topic)];
    const gateway = scriptedGateway({
      [busy.device.pushToken]: [{ kind: 'retry', reason: 'TooManyRequests', afterMs: 4_000 }],
      [other.device.pushToken]: [{ kind: 'retry', reason: 'InternalServerError' }],
    });
    await at.start({ backoffMs: 10 }, { gateways: new Map([['expo', gateway]]) });
    const message = await at.publish(topic);
    await eventually(async () => expect(await at.engine.deliveries.counts(message.id)).toMatchObject({ sent: 2 }));
    const [busyTimes, otherTimes] = [busy, other].map(({ device }) =>
      gateway.sent.flatMap(({ token, time }) => (token === device.pushToken ? [time] : [])),
    );
    expect(busyTimes![1]! - busyTimes![0]!).toBeGreaterThanOrEqual(4_000);
    expect(otherTimes![1]!).toBeLessThan(busyTimes![1]!);
  });

  test('keeps and counts pushes rejected because of credentials, and sends them after the fault is fixed', async () => {
    const topic = await at.addTopic();
    const { device } = await at.addSubscriber(topic);
    at.expo.script(device.pushToken, { kind: 'status', status: 401 }, { kind: 'status', status: 401 }, { kind: 'ok' });
    const metrics = new Registry();
    await at.start({ backoffMs: 20 }, { metrics });
    const message = await at.publish(topic);
    await eventually(async () =>
      expect(await deliveriesOf(at, message.id)).toMatchObject([{ status: 'sent', attempts: 3 }]),
    );
    expect(await metrics.getSingleMetricAsString('tocsin_push_refusals_total')).toContain(
      '{platform="expo",reason="Expo returned 401"} 2',
    );
    expect(await at.engine.documents.get(devices, device.id)).toMatchObject({ isActive: true });
  });

  test('sends a push again with the same collapse ID after a lost response', async () => {
    const topic = await at.addTopic();
    const { device } = await at.addSubscriber(topic);
    at.expo.script(device.pushToken, { kind: 'reset' }, { kind: 'ok' });
    await at.start({ backoffMs: 20 });
    const message = await at.publish(topic);
    await eventually(async () =>
      expect(await deliveriesOf(at, message.id)).toMatchObject([{ status: 'sent', attempts: 2 }]),
    );
    expect(at.expo.pushes.map((push) => push.message.collapseId)).toEqual([message.id, message.id]);
  });

  test('turns pushes that fail too long into a dead letter, and sends them after the operator retries it', async () => {
    const topic = await at.addTopic();
    const { device } = await at.addSubscriber(topic);
    at.expo.script(device.pushToken, { kind: 'status', status: 503 });
    await at.start({ backoffMs: 20, retryForMs: 200 });
    const message = await at.publish(topic);
    const queue = pushQueueOf(message.priority);
    const [letter] = await eventually(async () => {
      const failed = await at.engine.jobQueue.failed(queue, { limit: 10, offset: 0 });
      return failed.length > 0 && failed;
    });
    expect(letter!.reason).toContain('1 pushes failed for too long');
    expect(await deliveriesOf(at, message.id)).toMatchObject([
      { status: 'failed', reason: 'given up: Expo returned 503' },
    ]);
    at.expo.script(device.pushToken, { kind: 'ok' });
    expect(await at.engine.jobQueue.retryFailed(queue, letter!.id)).toBe(true);
    await eventually(async () => expect(await deliveriesOf(at, message.id)).toMatchObject([{ status: 'sent' }]));
    expect(tokensOf(at, message.id)).toEqual([device.pushToken]);
  });

  test('retries a push whose job an older version wrote without its platform', async () => {
    const topic = await at.addTopic();
    const { device } = await at.addSubscriber(topic);
    at.expo.script(device.pushToken, { kind: 'status', status: 503, retryAfterSeconds: 3_600 }, { kind: 'ok' });
    await at.start();
    const { id: messageId, priority } = await at.publish(topic);
    const [row] = await eventually(async () => {
      const rows = await deliveriesOf(at, messageId);
      return rows[0]?.status === 'retrying' && rows;
    });
    // Its own job waits for an hour.
    await at.engine.deliveries.record([{ ...row!, status: 'retrying', retryAt: at.clock() }], at.clock());
    const job = { messageId, topicId: topic.id, targets: [row!], round: 1, giveUpAt: at.clock() + 60_000 };
    const { id, data } = sendJob(newId(), job, { priority, delayMs: 0 });
    await at.engine.jobQueue.add(pushQueueOf(priority), [{ id, data }]);
    await eventually(async () => expect(await deliveriesOf(at, messageId)).toMatchObject([{ status: 'sent' }]));
  });

  test('does not retry a push for users who unsubscribed or lost access', async () => {
    const topic = await at.addTopic();
    const [leaving, losing] = [await at.addSubscriber(topic), await at.addSubscriber(topic)];
    at.expo.script(leaving.device.pushToken, { kind: 'status', status: 503 }, { kind: 'ok' });
    await at.start({ backoffMs: 3_000 });
    const message = await at.publish(topic);
    await eventually(async () => expect(await at.engine.deliveries.counts(message.id)).toMatchObject({ retrying: 2 }));
    await at.engine.documents.remove(subscriptions, leaving.subscription.id);
    await at.engine.documents.update(users, losing.user, { isActive: false });
    await eventually(async () => expect(await at.engine.deliveries.counts(message.id)).toMatchObject({ skipped: 2 }));
    expect((await deliveriesOf(at, message.id)).map(({ reason }) => reason).sort()).toEqual([
      'no access',
      'unsubscribed',
    ]);
    expect(tokensOf(at, message.id)).toEqual([]);
  });

  test('does not push an expired message', async () => {
    const topic = await at.addTopic();
    await at.addSubscriber(topic);
    const message = await at.publish(topic, { expiresAt: at.clock() - 1 });
    await at.start();
    await at.idle();
    expect(tokensOf(at, message.id)).toEqual([]);
    expect(await deliveriesOf(at, message.id)).toEqual([]);
  });

  test('fails a push that cannot be sent before its message expires', async () => {
    const topic = await at.addTopic();
    const { device } = await at.addSubscriber(topic);
    at.expo.script(device.pushToken, { kind: 'status', status: 503 });
    await at.start({ backoffMs: 2_000 });
    const message = await at.publish(topic, { expiresAt: at.clock() + 60_000 });
    await eventually(async () => expect(await deliveriesOf(at, message.id)).toMatchObject([{ status: 'retrying' }]));
    at.setAhead(60_000);
    await eventually(async () =>
      expect(await deliveriesOf(at, message.id)).toMatchObject([{ status: 'failed', reason: 'message expired' }]),
    );
    expect(at.expo.requests).toHaveLength(1);
  });

  test('does not push a deleted message', async () => {
    const topic = await at.addTopic();
    await at.addSubscriber(topic);
    const message = await at.publish(topic);
    const deletedAt = at.clock();
    const record = {
      type: 'message_deleted' as const,
      timestamp: deletedAt,
      message: { ...message, message: '', isDeleted: true, deletedAt },
    };
    const offset = await at.engine.eventLog.append(topic.partition, record, topic.name);
    await at.engine.messages.apply([{ partition: topic.partition, offset, record }]);
    await at.start();
    await at.idle();
    expect(tokensOf(at, message.id)).toEqual([]);
  });
});
