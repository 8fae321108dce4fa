import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Registry } from 'prom-client';
import { pushQueueOf, pushQueues, testPushJob } from '@tocsin/shared/domain/push/push-job.ts';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import type { Delivery } from '@tocsin/shared/ports/deliveries.ts';
import { devices } from '@tocsin/shared/collections/devices-collection.ts';
import { subscriptions } from '@tocsin/shared/collections/subscriptions-collection.ts';
import { teamMembers, teams } from '@tocsin/shared/collections/teams.ts';
import { topics } from '@tocsin/shared/collections/topics.ts';
import { users } from '@tocsin/shared/collections/users.ts';
import { newDevice, newId, newMember, newTeam } from '@tocsin/shared/testing/builders.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { engineUnderTest, enginesUnderTest } from '@tocsin/shared/testing/test-engine.ts';
import type { PushGateway, PushResult } from './providers/push-gateway.ts';
import { openPushInstallation, type PushInstallation, type Subscriber } from './push-installation.fixtures.ts';

describe(`the notifier, ${engineUnderTest}`, () => {
  let at: PushInstallation;
  beforeEach(async () => {
    at = await openPushInstallation(enginesUnderTest());
  });
  afterEach(() => at.close());

  reaching(() => at);
  rights(() => at);
  retrying(() => at);
  expiring(() => at);
});

/** Returns the scripted results per token, then `accepted`. */
function scriptedGateway(
  scripts: Record<string, PushResult[]>,
): PushGateway & { readonly sent: { token: string; time: number }[] } {
  const sent: { token: string; time: number }[] = [];
  return {
    sent,
    batchSizeMax: 100,
    payloadBytesMax: 4_096,
    send: (batch) =>
      Promise.resolve(
        batch.map(({ pushToken: token }) => {
          sent.push({ token, time: Date.now() });
          return scripts[token]?.shift() ?? { kind: 'accepted' };
        }),
      ),
    close: () => Promise.resolve(),
  };
}

const ledger = (at: PushInstallation, messageId: string): Promise<Delivery[]> =>
  at.engine.deliveries.find(messageId, { limit: 1_000 });
const tokensOf = (at: PushInstallation, messageId: string): string[] =>
  at.expo.pushes.filter((push) => push.messageId === messageId).map((push) => push.token);

function reaching(install: () => PushInstallation): void {
  test('pushes a message exactly once to each device of each subscriber, over all pages', async () => {
    const at = install();
    const topic = await at.addTopic({ name: `pumps-${newId().slice(-8)}` });
    const tokens = await at.addSubscribers(topic, 130);
    const { user, subscription } = await at.addSubscriber(topic);
    const second = await at.engine.documents.insert(devices, newDevice(user.id));
    await at.start({ pageSize: 25 });
    const message = await at.publish(topic, { priority: 5 });
    await at.idle();
    const reached = tokensOf(at, message.id);
    expect(reached).toHaveLength(132);
    expect(new Set(reached)).toEqual(
      new Set([...tokens, second.pushToken, ...reached.filter((token) => !tokens.includes(token))]),
    );
    expect(at.expo.duplicates().size).toBe(0);
    expect(at.expo.pushes.find((push) => push.messageId === message.id)!.message).toMatchObject({
      title: topic.name,
      body: 'the pump stopped',
      priority: 'high',
      collapseId: message.id,
      data: { message_id: message.id, topic: topic.name, topic_id: topic.id, priority: 5, tags: [] },
    });
    expect(await at.engine.deliveries.counts(message.id)).toMatchObject({ sent: 132, pending: 0, failed: 0 });
    await eventually(async () =>
      expect((await at.engine.documents.get(subscriptions, subscription.id))!.lastNotifiedAt).toBeGreaterThanOrEqual(
        message.timestamp,
      ),
    );
  });

  test('shares the work between notifiers without duplicate pushes', async () => {
    const at = install();
    const topics = [
      await at.addTopic({ partition: 0 }),
      await at.addTopic({ partition: at.engine.eventLog.partitions - 1 }),
    ];
    const tokens = await Promise.all(topics.map((topic) => at.addSubscribers(topic, 60)));
    await at.start({ pageSize: 10 });
    await at.start({ pageSize: 10 });
    const messages = [await at.publish(topics[0]!), await at.publish(topics[1]!, { priority: 5 })];
    await at.idle();
    expect(messages.map((message) => tokensOf(at, message.id).sort())).toEqual(tokens.map((ofTopic) => ofTopic.sort()));
  });

  test('pushes once for a repeated record', async () => {
    const at = install();
    const topic = await at.addTopic();
    const { device } = await at.addSubscriber(topic);
    await at.start();
    const message = await at.publish(topic);
    await at.engine.eventLog.append(
      topic.partition,
      { type: 'message', timestamp: message.timestamp, message },
      topic.name,
    );
    await at.idle();
    expect(tokensOf(at, message.id)).toEqual([device.pushToken]);
  });

  test('applies the subscriber’s settings of sound and vibration', async () => {
    const at = install();
    const topic = await at.addTopic();
    const quiet = await at.addSubscriber(topic, { subscription: { soundEnabled: false, vibrateEnabled: false } });
    const loud = await at.addSubscriber(topic, { subscription: { notificationSound: 'bell.wav' } });
    await at.start();
    await at.publish(topic);
    await at.idle();
    const sentTo = (subscriber: Subscriber) =>
      at.expo.pushes.find(({ token }) => token === subscriber.device.pushToken)!.message;
    expect(sentTo(quiet)).toMatchObject({ sound: null, channelId: 'no-vibration' });
    expect(sentTo(loud)).toMatchObject({ sound: 'bell.wav' });
    expect(sentTo(loud).channelId).toBeUndefined();
  });

  test('reaches a user who subscribes before a publish, even right after a publish without subscribers', async () => {
    const at = install();
    const topic = await at.addTopic();
    await at.start();
    await at.publish(topic);
    await at.idle();
    const { device } = await at.addSubscriber(topic);
    const message = await at.publish(topic);
    await at.idle();
    expect(tokensOf(at, message.id)).toEqual([device.pushToken]);
  });

  test('sends a test push immediately and without a ledger row', async () => {
    const at = install();
    const { device } = await at.addSubscriber(await at.addTopic());
    await at.start();
    await at.engine.jobQueue.add(pushQueues.urgent, [testPushJob(newId(), device.id)]);
    await eventually(() => expect(at.expo.pushes.map(({ token }) => token)).toEqual([device.pushToken]));
    expect(at.expo.pushes[0]!.message.data).toEqual({ test: true });
  });
}

function rights(install: () => PushInstallation): void {
  test('skips users who lost access to the topic and records the reason', async () => {
    const at = install();
    const { documents } = at.engine;
    const topic = await at.addTopic({ accessLevel: 'private' });
    const team = await documents.insert(teams, newTeam(topic.ownerId));
    await documents.update(topics, topic, { teamId: team.id });
    const [member, former, disabled] = [
      await at.addSubscriber(topic),
      await at.addSubscriber(topic),
      await at.addSubscriber(topic, { user: { isActive: false } }),
    ];
    await documents.insert(teamMembers, newMember(team.id, member.user.id));
    await documents.insert(teamMembers, newMember(team.id, disabled.user.id));
    await at.start();
    const message = await at.publish(topic);
    await at.idle();
    expect(tokensOf(at, message.id)).toEqual([member.device.pushToken]);
    const rows = await ledger(at, message.id);
    expect(
      rows
        .filter(({ status }) => status === 'skipped')
        .map(({ deviceId, reason }) => [deviceId, reason])
        .sort(),
    ).toEqual(
      [
        [former.device.id, 'no access'],
        [disabled.device.id, 'no access'],
      ].sort(),
    );
  });

  test('skips a device on an unconfigured platform and records the reason', async () => {
    const at = install();
    const topic = await at.addTopic();
    const { device } = await at.addSubscriber(topic, { device: { platform: 'ios', pushToken: newId() } });
    await at.start();
    const message = await at.publish(topic);
    await at.idle();
    expect(await ledger(at, message.id)).toMatchObject([
      { deviceId: device.id, status: 'skipped', reason: 'not configured' },
    ]);
  });

  test('deactivates a doubtful token after the second report, if the provider accepted a push in between', async () => {
    const at = install();
    const [topic, others] = [await at.addTopic(), await at.addTopic()];
    const { device } = await at.addSubscriber(topic);
    await at.addSubscriber(others);
    const doubtful: PushResult = { kind: 'dead-token', reason: 'BadDeviceToken', isDoubtful: true };
    const gateway = scriptedGateway({
      [device.pushToken]: [doubtful, { kind: 'accepted' }, doubtful, doubtful, doubtful],
    });
    await at.start({}, { gateways: new Map([['expo', gateway]]) });
    const push = async (to: Topic, status: string): Promise<void> => {
      const message = await at.publish(to);
      await eventually(async () => expect(await ledger(at, message.id)).toMatchObject([{ status }]));
    };
    const isDoubted = async (): Promise<boolean> =>
      (await at.engine.documents.get(devices, device.id))!.doubtedAt !== null;
    const isActive = async (): Promise<boolean> => (await at.engine.documents.get(devices, device.id))!.isActive;
    await push(topic, 'dead_token');
    await eventually(isDoubted);
    await push(topic, 'sent');
    await eventually(async () => !(await isDoubted()));
    await push(topic, 'dead_token');
    await eventually(isDoubted);
    // The response of APNs for every device in a wrong environment.
    await push(topic, 'dead_token');
    await eventually(async () =>
      expect(await at.engine.jobQueue.counts(pushQueues.normal)).toMatchObject({ waiting: 0, active: 0 }),
    );
    expect(await isActive()).toBe(true);
    await push(others, 'sent');
    await push(topic, 'dead_token');
    await eventually(async () => !(await isActive()));
  });

  test('deactivates a device whose token the provider reports as dead', async () => {
    const at = install();
    const topic = await at.addTopic();
    const [dead, alive] = [await at.addSubscriber(topic), await at.addSubscriber(topic)];
    at.expo.script(dead.device.pushToken, { kind: 'ticket-error', error: 'DeviceNotRegistered' });
    await at.start();
    const message = await at.publish(topic);
    await eventually(async () =>
      expect(await at.engine.documents.get(devices, dead.device.id)).toMatchObject({ isActive: false }),
    );
    await at.idle();
    expect(await at.engine.documents.get(devices, alive.device.id)).toMatchObject({ isActive: true });
    const next = await at.publish(topic);
    await at.idle();
    expect(await at.engine.deliveries.counts(message.id)).toMatchObject({ sent: 1, dead_token: 1 });
    expect(await at.engine.deliveries.counts(next.id)).toMatchObject({ sent: 1, dead_token: 0 });
  });
}

function retrying(install: () => PushInstallation): void {
  test('retries a push once after the time that the provider asked for', async () => {
    const at = install();
    const topic = await at.addTopic();
    const { device } = await at.addSubscriber(topic);
    at.expo.script(device.pushToken, { kind: 'status', status: 429, retryAfterSeconds: 3 }, { kind: 'ok' });
    await at.start({ backoffMs: 10 });
    const message = await at.publish(topic);
    await eventually(async () =>
      expect(await ledger(at, message.id)).toMatchObject([{ status: 'retrying', reason: 'Expo returned 429' }]),
    );
    await eventually(async () => expect(await ledger(at, message.id)).toMatchObject([{ status: 'sent', attempts: 2 }]));
    const [first, second] = at.expo.requests;
    expect(second!.at - first!.at).toBeGreaterThanOrEqual(3_000);
    expect(at.expo.requests).toHaveLength(2);
  });

  test('leaves a claimed push to its worker until the claim is stale', async () => {
    const at = install();
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
    const at = install();
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
    const at = install();
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
    const at = install();
    const topic = await at.addTopic();
    const { device } = await at.addSubscriber(topic);
    at.expo.script(device.pushToken, { kind: 'status', status: 401 }, { kind: 'status', status: 401 }, { kind: 'ok' });
    const metrics = new Registry();
    await at.start({ backoffMs: 20 }, { metrics });
    const message = await at.publish(topic);
    await eventually(async () => expect(await ledger(at, message.id)).toMatchObject([{ status: 'sent', attempts: 3 }]));
    expect(await metrics.getSingleMetricAsString('tocsin_push_refusals_total')).toContain(
      '{platform="expo",reason="Expo returned 401"} 2',
    );
    expect(await at.engine.documents.get(devices, device.id)).toMatchObject({ isActive: true });
  });

  test('sends a push again with the same collapse ID after a lost response', async () => {
    const at = install();
    const topic = await at.addTopic();
    const { device } = await at.addSubscriber(topic);
    at.expo.script(device.pushToken, { kind: 'reset' }, { kind: 'ok' });
    await at.start({ backoffMs: 20 });
    const message = await at.publish(topic);
    await eventually(async () => expect(await ledger(at, message.id)).toMatchObject([{ status: 'sent', attempts: 2 }]));
    expect(at.expo.pushes.map((push) => push.message.collapseId)).toEqual([message.id, message.id]);
  });

  test('turns pushes that fail too long into a dead letter, and sends them after the operator retries it', async () => {
    const at = install();
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
    expect(await ledger(at, message.id)).toMatchObject([{ status: 'failed', reason: 'given up: Expo returned 503' }]);
    at.expo.script(device.pushToken, { kind: 'ok' });
    expect(await at.engine.jobQueue.retryFailed(queue, letter!.id)).toBe(true);
    await eventually(async () => expect(await ledger(at, message.id)).toMatchObject([{ status: 'sent' }]));
    expect(tokensOf(at, message.id)).toEqual([device.pushToken]);
  });

  test('does not retry a push for users who unsubscribed or lost access', async () => {
    const at = install();
    const topic = await at.addTopic();
    const [leaving, losing] = [await at.addSubscriber(topic), await at.addSubscriber(topic)];
    at.expo.script(leaving.device.pushToken, { kind: 'status', status: 503 }, { kind: 'ok' });
    await at.start({ backoffMs: 3_000 });
    const message = await at.publish(topic);
    await eventually(async () => expect(await at.engine.deliveries.counts(message.id)).toMatchObject({ retrying: 2 }));
    await at.engine.documents.remove(subscriptions, leaving.subscription.id);
    await at.engine.documents.update(users, losing.user, { isActive: false });
    await eventually(async () => expect(await at.engine.deliveries.counts(message.id)).toMatchObject({ skipped: 2 }));
    expect((await ledger(at, message.id)).map(({ reason }) => reason).sort()).toEqual(['no access', 'unsubscribed']);
    expect(tokensOf(at, message.id)).toEqual([]);
  });
}

function expiring(install: () => PushInstallation): void {
  test('does not push an expired message', async () => {
    const at = install();
    const topic = await at.addTopic();
    await at.addSubscriber(topic);
    const message = await at.publish(topic, { expiresAt: at.clock() - 1 });
    await at.start();
    await at.idle();
    expect(tokensOf(at, message.id)).toEqual([]);
    expect(await ledger(at, message.id)).toEqual([]);
  });

  test('fails a push that cannot be sent before its message expires', async () => {
    const at = install();
    const topic = await at.addTopic();
    const { device } = await at.addSubscriber(topic);
    at.expo.script(device.pushToken, { kind: 'status', status: 503 });
    await at.start({ backoffMs: 2_000 });
    const message = await at.publish(topic, { expiresAt: at.clock() + 60_000 });
    await eventually(async () => expect(await ledger(at, message.id)).toMatchObject([{ status: 'retrying' }]));
    at.setAhead(60_000);
    await eventually(async () =>
      expect(await ledger(at, message.id)).toMatchObject([{ status: 'failed', reason: 'message expired' }]),
    );
    expect(at.expo.requests).toHaveLength(1);
  });

  test('does not push a deleted message', async () => {
    const at = install();
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
}
