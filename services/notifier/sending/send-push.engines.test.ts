import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Device } from '@tocsin/shared/domain/push/device.ts';
import { unavailable } from '@tocsin/shared/domain/errors.ts';
import type { LogRecord } from '@tocsin/shared/domain/messages/log-record.ts';
import { deletionRecord, editRecord } from '@tocsin/shared/domain/messages/message-changes.ts';
import type { StoredMessage } from '@tocsin/shared/domain/messages/message.ts';
import { defaultMobileSettings } from '@tocsin/shared/domain/push/subscription.ts';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import { QuietSpans } from '@tocsin/shared/platform/daily-hours.ts';
import { idSource } from '@tocsin/shared/platform/ids.ts';
import { openLogger } from '@tocsin/shared/platform/logger.ts';
import type { Claim, DeliveryStatus } from '@tocsin/shared/ports/deliveries.ts';
import { RetryLater } from '@tocsin/shared/ports/job-queue.ts';
import { devices } from '@tocsin/shared/collections/devices-collection.ts';
import { topics } from '@tocsin/shared/collections/topics.ts';
import { engineUnderTest, enginesUnderTest } from '@tocsin/shared/testing/test-engine.ts';
import { untraced } from '@tocsin/shared/runtime/tracing/tracing.ts';
import { Registry } from 'prom-client';
import { notifiedTimes, type NotifiedTimes } from './notified-times.ts';
import type { PushDeps } from './push-deps.ts';
import type { PushRequest, PushResult } from '../providers/push-gateway.ts';
import type { WatchedGateway } from '../providers/watch-provider.ts';
import { openPushInstallation, type PushInstallation } from '../push-installation.fixtures.ts';
import { pushMetrics } from './push-metrics.ts';
import { pushReads } from './push-reads.ts';
import { retryPush } from '../jobs/retry-push.ts';
import { sendPush, type Sending } from './send-push.ts';

const log = openLogger('test', 'silent');

describe(`a push, ${engineUnderTest}`, () => {
  let at: PushInstallation;
  let topic: Topic;
  let times: NotifiedTimes;
  let results: PushResult['kind'][];
  let sent: PushRequest[];
  /** Called while a batch is at the provider. */
  let meanwhile: () => Promise<unknown>;
  beforeEach(async () => {
    at = await openPushInstallation(enginesUnderTest());
    times = notifiedTimes({ documents: at.engine.documents, log });
    topic = await at.addTopic();
    [results, sent, meanwhile] = [[], [], () => Promise.resolve()];
  });
  afterEach(async () => {
    await times.close();
    await at.close();
  });

  /** Returns the scripted `results`, then `accepted`. */
  const gateway: WatchedGateway = {
    pausedMs: () => 0,
    tookAt: () => 0,
    batchSizeMax: 100,
    payloadBytesMax: 4_096,
    async send(batch) {
      sent.push(...batch);
      await meanwhile();
      return batch.map(() => ({ kind: results.shift() ?? 'accepted', reason: 'as scripted', ticket: 'a ticket' }));
    },
    close: () => Promise.resolve(),
  };
  const deps = (engine: PushDeps['engine'] = at.engine): PushDeps => ({
    engine,
    reads: pushReads(engine),
    clock: () => at.clock(),
    makeId: idSource(() => at.clock()),
    baseUrl: 'http://127.0.0.1',
    random: () => 0.5,
    isCriticalAllowed: false,
    log,
    gateways: new Map([['expo', gateway]]),
    notifiedTimes: times,
    quietSpans: new QuietSpans(),
    reportRefusal: () => undefined,
    metrics: pushMetrics(new Registry()),
    tracing: untraced,
    limits: {
      firstPageSize: 10,
      pageSize: 10,
      claimStaleMs: 20_000,
      backoffMs: 1_000,
      retryForMs: 60_000,
      receiptAfterMs: 60_000,
      renewalMs: 1_000,
      badgeAgeMsMax: 600_000,
    },
    closing: new AbortController().signal,
  });

  async function newPush(): Promise<{
    claim: Claim;
    device: Device;
    stored: StoredMessage;
    send: (engine?: PushDeps['engine']) => Promise<unknown>;
    retry: () => Promise<void>;
    statuses: () => Promise<DeliveryStatus[]>;
  }> {
    const { user, subscription, device } = await at.addSubscriber(topic);
    const message = await at.publish(topic, { expiresAt: at.clock() + 60_000 });
    const ids = { deviceId: device.id, userId: user.id, subscriptionId: subscription.id };
    const claim: Claim = { ...ids, messageId: message.id, topicId: topic.id, platform: 'expo' };
    const stored = (await at.engine.messages.find(message.id))!;
    const sending: Sending = {
      push: { message: stored, topic, page: undefined, ackKey: null, readAt: at.clock() },
      gateway,
      platform: 'expo',
      attempt: { round: 0, giveUpAt: null, again: [] },
    };
    return {
      claim,
      device,
      stored,
      send: (engine) =>
        sendPush(deps(engine), sending, [
          { claim, pushToken: device.pushToken, isDoubted: false, settings: defaultMobileSettings, badge: null },
        ]),
      retry: () =>
        retryPush(deps(), {
          kind: 'send',
          messageId: message.id,
          topicId: topic.id,
          platform: 'expo',
          targets: [ids],
          round: 1,
          giveUpAt: at.clock() + 60_000,
        }),
      statuses: async () => (await rows(message.id)).map(({ status }) => status),
    };
  }

  const change = async (record: LogRecord): Promise<void> => {
    const offset = await at.engine.eventLog.append(topic.partition, record, topic.name);
    await at.engine.messages.apply([{ partition: topic.partition, offset, record }]);
  };
  const rows = (messageId: string) => at.engine.deliveries.find(messageId, { limit: 10 });

  test('is not sent after the message was deleted', async () => {
    const push = await newPush();
    await change(deletionRecord(push.stored, at.clock()));
    await push.send();
    expect([sent, await rows(push.stored.id)]).toMatchObject([[], [{ status: 'skipped', reason: 'message deleted' }]]);
  });

  test('is not sent after the topic was deleted', async () => {
    const push = await newPush();
    await at.engine.documents.remove(topics, topic.id);
    await push.send();
    expect([sent, await rows(push.stored.id)]).toMatchObject([[], [{ status: 'skipped', reason: 'topic deleted' }]]);
  });

  // The edit's own job replaces claimed pushes; it reads the rows after the edit is stored.
  test('contains the text at the time of the claim', async () => {
    const push = await newPush();
    const { deliveries } = at.engine;
    const edited: PushDeps['engine'] = {
      ...at.engine,
      deliveries: {
        ...deliveries,
        async claim(...call) {
          const claimed = await deliveries.claim(...call);
          await change(editRecord(push.stored, { message: 'edited' }, at.clock()));
          return claimed;
        },
      },
    };
    await push.send(edited);
    expect(sent).toMatchObject([{ content: { body: 'edited' } }]);
  });

  // Like a stalled process: another worker may hold the claim by now.
  test('is not sent with a stale claim, but by the next claim', async () => {
    const push = await newPush();
    const { messages } = at.engine;
    const findMany: typeof messages.findMany = (ids) => {
      at.setAhead(20_001);
      return messages.findMany(ids);
    };
    await expect(push.send({ ...at.engine, messages: { ...messages, findMany } })).rejects.toThrow(RetryLater);
    expect([sent, await push.statuses()]).toEqual([[], ['pending']]);
    await push.send();
    expect(await push.statuses()).toEqual(['sent']);
  });

  test('is sent once, even if its receipt job cannot be stored', async () => {
    const push = await newPush();
    await push.send({
      ...at.engine,
      jobQueue: {
        ...at.engine.jobQueue,
        hasRoom: () => Promise.resolve(true),
        add: () => Promise.reject(unavailable('Queue')),
      },
    });
    expect(await push.statuses()).toEqual(['sent']);
  });

  test('does not deactivate a device that registered its dead token again', async () => {
    const push = await newPush();
    results = ['dead-token'];
    at.setAhead(1);
    meanwhile = () => at.engine.documents.update(devices, push.device, { tokenGivenAt: at.clock() });
    await push.send();
    expect(await push.statuses()).toEqual(['dead_token']);
    expect(await at.engine.documents.get(devices, push.device.id)).toMatchObject({ isActive: true });
  });

  // The queue uses the clock of one notifier, and the clock of the worker can be behind.
  test('waits until it is due by the local clock', async () => {
    const push = await newPush();
    await at.engine.deliveries.record(
      [{ ...push.claim, status: 'retrying', reason: null, retryAt: at.clock() + 5_000 }],
      at.clock(),
    );
    await expect(push.retry()).rejects.toThrow(RetryLater);
    at.setAhead(5_000);
    await push.retry();
    expect(await push.statuses()).toEqual(['sent']);
  });

  // A job can run twice if its worker died after completing it. These are second runs.
  test('stays sent', async () => {
    const push = await newPush();
    await push.send();
    at.setAhead(60_000);
    await push.send();
    expect(await push.statuses()).toEqual(['sent']);
  });

  test('fails without a send if it was never attempted', async () => {
    const push = await newPush();
    at.setAhead(60_000);
    await push.send();
    expect(await rows(push.claim.messageId)).toMatchObject([{ status: 'failed', reason: 'message expired' }]);
  });

  test('fails without a send if its message expires while it is claimed', async () => {
    const push = await newPush();
    const { deliveries } = at.engine;
    await push.send({
      ...at.engine,
      deliveries: {
        ...deliveries,
        async claim(...call) {
          const claimed = await deliveries.claim(...call);
          at.setAhead(60_000);
          return claimed;
        },
      },
    });
    expect(sent).toEqual([]);
    expect(await rows(push.claim.messageId)).toMatchObject([{ status: 'failed', reason: 'message expired' }]);
  });

  test('keeps the reason of its failure', async () => {
    const push = await newPush();
    results = ['rejected'];
    await push.send();
    at.setAhead(60_000);
    await push.retry();
    expect(await rows(push.claim.messageId)).toMatchObject([{ status: 'failed', reason: 'as scripted' }]);
  });

  test('is left to the worker that is sending it, and fails after that worker died', async () => {
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
