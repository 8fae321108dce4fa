import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { defaultMobileSettings } from '@tocsin/shared/domain/subscription.ts';
import type { Topic } from '@tocsin/shared/domain/topic.ts';
import { QuietSpans } from '@tocsin/shared/platform/daily-hours.ts';
import { idSource } from '@tocsin/shared/platform/ids.ts';
import { openLog } from '@tocsin/shared/platform/log.ts';
import type { Claim, DeliveryStatus } from '@tocsin/shared/ports/deliveries.ts';
import { RetryLater } from '@tocsin/shared/ports/job-queue.ts';
import { engineUnderTest, enginesUnderTest } from '@tocsin/shared/testing/test-engine.ts';
import { untraced } from '@tocsin/shared/tracing/tracing.ts';
import { Registry } from 'prom-client';
import { notifiedTimes, type NotifiedTimes } from './notified-times.ts';
import type { PushDeps } from './push-deps.ts';
import type { PushResult } from './push-gateways/push-gateway.ts';
import type { WatchedGateway } from './push-gateways/watch-provider.ts';
import { openPushInstallation, type PushInstallation } from './push-installation.fixtures.ts';
import { pushMetrics } from './push-metrics.ts';
import { retryPush } from './retry-push.ts';
import { sendPush, type Sending } from './send-push.ts';

const log = openLog('test', 'silent');

// A job can come twice: its worker died after it had done it. These are the second times.
describe(`a push whose message has expired meanwhile, ${engineUnderTest}`, () => {
  let at: PushInstallation;
  let topic: Topic;
  let times: NotifiedTimes;
  let results: PushResult['kind'][];
  beforeEach(async () => {
    at = await openPushInstallation(enginesUnderTest());
    times = notifiedTimes({ documents: at.engine.documents, log });
    topic = await at.addTopic();
    results = [];
  });
  afterEach(async () => {
    await times.close();
    await at.close();
  });

  /** Answers what `results` says, and `accepted` beyond it. */
  const gateway: WatchedGateway = {
    pausedMs: () => 0,
    batchSizeMax: 100,
    payloadBytesMax: 4_096,
    send: (batch) => Promise.resolve(batch.map(() => ({ kind: results.shift() ?? 'accepted', reason: 'as scripted' }))),
    close: () => Promise.resolve(),
  };
  const deps = (): PushDeps => ({
    engine: at.engine, clock: () => at.clock(), makeId: idSource(() => at.clock()), random: () => 0.5, log,
    gateways: new Map([['expo', gateway]]),
    notifiedTimes: times, quietSpans: new QuietSpans(),
    reportRefusal: () => undefined,
    metrics: pushMetrics(new Registry()), tracing: untraced,
    limits: { pageSize: 10, claimStaleMs: 20_000, backoffMs: 1_000, retryForMs: 60_000, receiptAfterMs: 60_000, renewalMs: 1_000 },
    closing: new AbortController().signal,
  });

  async function newPush(): Promise<{ claim: Claim; send: () => Promise<unknown>; retry: () => Promise<void>; statuses: () => Promise<DeliveryStatus[]> }> {
    const { user, subscription, device } = await at.addSubscriber(topic);
    const message = await at.publish(topic, { expiresAt: at.clock() + 60_000 });
    const ids = { deviceId: device.id, userId: user.id, subscriptionId: subscription.id };
    const claim: Claim = { ...ids, messageId: message.id, topicId: topic.id, platform: 'expo' };
    const stored = (await at.engine.messages.find(message.id))!;
    const sending: Sending = { push: { message: stored, topic }, gateway, platform: 'expo', attempt: { round: 0, giveUpAt: null, again: [] } };
    return {
      claim,
      send: () => sendPush(deps(), sending, [{ claim, pushToken: device.pushToken, isDoubted: false, settings: defaultMobileSettings }]),
      retry: () => retryPush(deps(), { kind: 'send', messageId: message.id, topicId: topic.id, platform: 'expo', targets: [ids], round: 1, giveUpAt: at.clock() + 60_000 }),
      statuses: async () => (await at.engine.deliveries.find(message.id, { limit: 10 })).map(({ status }) => status),
    };
  }

  test('stays sent', async () => {
    const push = await newPush();
    await push.send();
    at.setAhead(60_000);
    await push.send();
    expect(await push.statuses()).toEqual(['sent']);
  });

  test('fails without being sent when it was never tried', async () => {
    const push = await newPush();
    at.setAhead(60_000);
    await push.send();
    expect(await at.engine.deliveries.find(push.claim.messageId, { limit: 10 })).toMatchObject([{ status: 'failed', reason: 'message expired' }]);
  });

  test('keeps the reason for which it failed', async () => {
    const push = await newPush();
    results = ['rejected'];
    await push.send();
    at.setAhead(60_000);
    await push.retry();
    expect(await at.engine.deliveries.find(push.claim.messageId, { limit: 10 })).toMatchObject([{ status: 'failed', reason: 'as scripted' }]);
  });

  test('is left to the worker that is sending it, and fails once that has died', async () => {
    const push = await newPush();
    at.setAhead(50_000);
    await at.engine.deliveries.claim([push.claim], { now: at.clock(), staleAfterMs: 20_000 });
    at.setAhead(60_000);
    await push.send();
    await expect(push.retry()).rejects.toThrow(RetryLater);
    expect(await push.statuses()).toEqual(['pending']);
    at.setAhead(80_000);
    await push.retry();
    expect(await push.statuses()).toEqual(['failed']);
  });
});
