import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { pushQueues, testPushJob } from '@tocsin/shared/domain/push/push-job.ts';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import { devices } from '@tocsin/shared/collections/devices-collection.ts';
import { subscriptions } from '@tocsin/shared/collections/subscriptions-collection.ts';
import { teamMembers, teams } from '@tocsin/shared/collections/teams.ts';
import { topics } from '@tocsin/shared/collections/topics.ts';
import { newDevice, newId, newMember, newTeam } from '@tocsin/shared/testing/builders.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { engineUnderTest, enginesUnderTest } from '@tocsin/shared/testing/test-engine.ts';
import type { PushResult } from './providers/push-gateway.ts';
import { scriptedGateway } from './providers/scripted-gateway.fixtures.ts';
import {
  deliveriesOf,
  openPushInstallation,
  tokensOf,
  type PushInstallation,
  type Subscriber,
} from './push-installation.fixtures.ts';

describe(`the notifier, ${engineUnderTest}`, () => {
  let at: PushInstallation;
  beforeEach(async () => {
    at = await openPushInstallation(enginesUnderTest());
  });
  afterEach(() => at.close());

  const noJobs = () =>
    eventually(async () =>
      expect(await at.engine.jobQueue.counts(pushQueues.normal)).toMatchObject({ waiting: 0, active: 0 }),
    );

  test('pushes a message exactly once to each device of each subscriber, over all pages', async () => {
    const topic = await at.addTopic({ name: `pumps-${newId().slice(-8)}` });
    const tokens = await at.addSubscribers(topic, 130);
    const { user, subscription } = await at.addSubscriber(topic);
    const second = await at.engine.documents.insert(devices, newDevice(user.id));
    await at.start({ firstPageSize: 10, pageSize: 25 });
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
    const topics = [
      await at.addTopic({ partition: 0 }),
      await at.addTopic({ partition: at.engine.eventLog.partitions - 1 }),
    ];
    const tokens = await Promise.all(topics.map((topic) => at.addSubscribers(topic, 60)));
    await at.start({ firstPageSize: 5, pageSize: 10 });
    await at.start({ firstPageSize: 5, pageSize: 10 });
    const messages = [await at.publish(topics[0]!), await at.publish(topics[1]!, { priority: 5 })];
    await at.idle();
    expect(messages.map((message) => tokensOf(at, message.id).sort())).toEqual(tokens.map((ofTopic) => ofTopic.sort()));
  });

  test('pushes a message while later pages of another one wait for a slow provider', async () => {
    const [large, small] = [await at.addTopic(), await at.addTopic()];
    const slow = new Set(await at.addSubscribers(large, 40));
    const { device } = await at.addSubscriber(small);
    const [waiting, answered] = [new Set<string>(), Promise.withResolvers<void>()];
    const gateway = scriptedGateway({});
    const send: typeof gateway.send = async (batch) => {
      for (const { pushToken } of batch) if (slow.has(pushToken)) waiting.add(pushToken);
      if (batch.some(({ pushToken }) => slow.has(pushToken))) await answered.promise;
      return gateway.send(batch);
    };
    await at.start({ firstPageSize: 2, pageSize: 2 }, { gateways: new Map([['expo', { ...gateway, send }]]) });
    await at.publish(large);
    // The first page, and four others.
    await eventually(() => expect(waiting.size).toBe(10));
    await at.publish(small);
    await eventually(() => expect(gateway.sent).toMatchObject([{ token: device.pushToken }]));
    expect(waiting.size).toBe(10);
    answered.resolve();
    await eventually(() => expect(gateway.sent).toHaveLength(41));
    expect(new Set(gateway.sent.map(({ token }) => token))).toEqual(new Set([device.pushToken, ...slow]));
  });

  test('pushes once for a repeated record', async () => {
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
    const topic = await at.addTopic();
    await at.start();
    await at.publish(topic);
    await at.idle();
    const { device } = await at.addSubscriber(topic);
    const message = await at.publish(topic);
    await at.idle();
    expect(tokensOf(at, message.id)).toEqual([device.pushToken]);
  });

  test('sends a test push immediately and without a ledger row, unless it was requested five minutes ago', async () => {
    const { device } = await at.addSubscriber(await at.addTopic());
    await at.start();
    const sixMinutesAgo = Date.now() - 6 * 60_000;
    await at.engine.jobQueue.add(pushQueues.urgent, [testPushJob(newId(), device.id, sixMinutesAgo)]);
    await at.engine.jobQueue.add(pushQueues.urgent, [testPushJob(newId(), device.id, Date.now())]);
    await eventually(() => expect(at.expo.pushes.map(({ token }) => token)).toEqual([device.pushToken]));
    expect(at.expo.pushes[0]!.message.data).toEqual({ test: true });
    await at.idle();
    expect(at.expo.pushes.filter(({ message }) => message.data?.['test'] === true)).toHaveLength(1);
  });

  test('skips users who lost access to the topic and records the reason', async () => {
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
    const rows = await deliveriesOf(at, message.id);
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
    const topic = await at.addTopic();
    const { device } = await at.addSubscriber(topic, { device: { platform: 'ios', pushToken: newId() } });
    await at.start();
    const message = await at.publish(topic);
    await at.idle();
    expect(await deliveriesOf(at, message.id)).toMatchObject([
      { deviceId: device.id, status: 'skipped', reason: 'not configured' },
    ]);
  });

  test('deactivates a doubtful token after the second report, if the provider accepted a push in between', async () => {
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
      await eventually(async () => expect(await deliveriesOf(at, message.id)).toMatchObject([{ status }]));
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
    await noJobs();
    expect(await isActive()).toBe(true);
    await push(others, 'sent');
    await push(topic, 'dead_token');
    await eventually(async () => !(await isActive()));
  });

  test('deactivates the only device of an installation after 30 days of doubtful reports', async () => {
    const topic = await at.addTopic();
    const { device } = await at.addSubscriber(topic);
    const doubtful: PushResult = { kind: 'dead-token', reason: 'BadDeviceToken', isDoubtful: true };
    const gateway = scriptedGateway({ [device.pushToken]: [doubtful, doubtful, doubtful] });
    await at.start({}, { gateways: new Map([['expo', gateway]]) });
    const state = async () => (await at.engine.documents.get(devices, device.id))!;
    const pushAfter = async (days: number): Promise<void> => {
      at.setAhead(days * 86_400_000);
      const message = await at.publish(topic);
      await eventually(async () =>
        expect(await deliveriesOf(at, message.id)).toMatchObject([{ status: 'dead_token' }]),
      );
      // The job doubts the token after it stored the outcome, by the present time.
      await noJobs();
    };
    await pushAfter(0);
    await eventually(async () => expect((await state()).doubtedAt).not.toBeNull());
    await pushAfter(29);
    expect((await state()).isActive).toBe(true);
    await pushAfter(31);
    await eventually(async () => expect((await state()).isActive).toBe(false));
  });

  test('deactivates a device whose token the provider reports as dead', async () => {
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
});
