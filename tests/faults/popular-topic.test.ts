import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { closers, type Closers } from '@tocsin/shared/platform/lifecycle.ts';
import type { Platform } from '@tocsin/shared/domain/push/device.ts';
import type { Documents } from '@tocsin/shared/ports/documents.ts';
import { addSubscribers, subscribersPerCommit } from '@tocsin/shared/testing/add-subscribers.ts';
import { newPushToken } from '@tocsin/shared/testing/builders.ts';
import { describeWithEngines, type TestEngines } from '@tocsin/shared/testing/describe-with-engines.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { printMeasurements } from '@tocsin/shared/testing/figures.ts';
import { startExpoSimulator } from '@tocsin/simulators/expo-simulator.ts';
import { startFcmSimulator } from '@tocsin/simulators/fcm-simulator.ts';
import { expoSettings, fcmSettings, writeSimulatorSettings } from '@tocsin/simulators/simulator-settings.ts';
import { createAccount, createTopic, made, openStackDocuments, type Account } from '../support/stack.ts';
import { startStackOn } from '../support/own-stack.ts';

const subscribers = Number(process.env['TOCSIN_POPULAR_SUBSCRIBERS'] ?? 6_000);
const isFull = subscribers >= 1_000_000;
/**
 * Expo allows 600 pushes per second, so that the popular topic outlasts the urgent messages also with few subscribers.
 * With FCM, the notifier is busy.
 */
const platform: Platform = isFull ? 'android' : 'expo';
const latencyMs = 50;
const urgentSubscribers = 10;
const urgentMessages = 3;
const pageSize = 500;
/**
 * Pages of the popular topic that may be sent while an urgent message waits: those in progress, and those that follow
 * them until the urgent one is read from the log, claimed and sent. Counted, not timed, because a busy machine slows
 * both.
 */
const pagesMax = 8;
/** From the acknowledgement to the first push, for the full number of subscribers. */
const urgentMsMax = 1_000;
const writers = 4;
/** At least 500 pushes and subscriptions per second. */
const patienceMs = 60_000 + 2 * subscribers;

/** Counts pushes by message. */
class Tally {
  readonly #tokens = new Map<string, Set<string>>();
  repeated = 0;
  /** Called with every push. */
  onPush: (messageId: string) => void = () => undefined;

  add(messageId: string, token: string): void {
    const tokens = this.#tokens.get(messageId) ?? new Set();
    this.#tokens.set(messageId, tokens);
    if (tokens.has(token)) this.repeated += 1;
    tokens.add(token);
    this.onPush(messageId);
  }

  of(messageId: string): number {
    return this.#tokens.get(messageId)?.size ?? 0;
  }
}

describe('an urgent message next to a popular topic, embedded', () => popularTopicTest(undefined));
describeWithEngines('an urgent message next to a popular topic, on a cluster', (engines) => popularTopicTest(engines));

function popularTopicTest(engines: TestEngines | undefined): void {
  let own: Closers;
  beforeEach(() => {
    own = closers();
  });
  afterEach(() => own.closeAll(), 60_000);

  test(
    'is pushed after a few pages, and every subscriber of both is reached once',
    async () => {
      const tally = new Tally();
      const provider = await startProvider(own, tally);
      const stack = await startStackOn(engines, { RATE_LIMITS: 'off', ...provider }, 'services');
      own.add(() => stack.stop());
      const store = await openStackDocuments(stack);
      own.add(() => store.close());
      const account = await createAccount(store, { tier: 'TEAM', urls: stack.urls });
      const [popular, urgent] = [await createTopic(account), await createTopic(account)];
      const beganAt = performance.now();
      await fill(store.documents, popular.id, subscribers);
      await fill(store.documents, urgent.id, urgentSubscribers);
      const fillSeconds = (performance.now() - beganAt) / 1_000;

      const publishedAt = performance.now();
      const popularId = await publish(account, popular.name, 3);
      await eventually(() => tally.of(popularId) >= 2 * pageSize, { timeoutMs: patienceMs, intervalMs: 5 });
      const waits: Wait[] = [];
      for (let n = 0; n < urgentMessages; n += 1)
        waits.push(await publishUrgent(tally, popularId, () => publish(account, urgent.name, 5)));
      const popularLeft = subscribers - tally.of(popularId);
      await eventually(() => tally.of(popularId) === subscribers, { timeoutMs: patienceMs });
      printMeasurements('urgent message next to a popular topic', {
        engine: stack.engine,
        subscribers,
        fillSeconds,
        waits,
        popularLeft,
        popularPerSecond: subscribers / ((performance.now() - publishedAt) / 1_000),
        repeated: tally.repeated,
      });
      expect(popularLeft).toBeGreaterThan(0);
      for (const { pushesBefore, firstMs } of waits) {
        expect(pushesBefore).toBeLessThanOrEqual(pagesMax * pageSize);
        if (isFull) expect(firstMs).toBeLessThan(urgentMsMax);
      }
      expect(tally.repeated).toBe(0);
    },
    3 * patienceMs,
  );
}

/** Starts the simulator of the provider; resolves with the settings that connect the notifier to it. */
async function startProvider(own: Closers, tally: Tally): Promise<Record<string, string>> {
  const folder = mkdtempSync(path.join(tmpdir(), 'tocsin-popular-'));
  own.add(() => rmSync(folder, { recursive: true, force: true }));
  const options = {
    isForgetful: true,
    latencyMs,
    onPush: ({ messageId, token }: { messageId: string | undefined; token: string }) => tally.add(messageId!, token),
  };
  if (platform === 'expo') {
    const expo = await startExpoSimulator(options);
    own.add(() => expo.close());
    return writeSimulatorSettings(folder, [expoSettings(expo)]);
  }
  const fcm = await startFcmSimulator(options);
  own.add(() => fcm.close());
  return writeSimulatorSettings(folder, [fcmSettings(fcm)]);
}

/** From the acknowledgement of an urgent message. */
interface Wait {
  readonly firstMs: number;
  readonly lastMs: number;
  /** Pushes of the popular topic until the last one of the urgent message. */
  readonly pushesBefore: number;
}

async function publishUrgent(tally: Tally, popularId: string, publishIt: () => Promise<string>): Promise<Wait> {
  const pushed: { readonly messageId: string; readonly at: number; readonly popular: number }[] = [];
  tally.onPush = (messageId) => {
    if (messageId !== popularId) pushed.push({ messageId, at: performance.now(), popular: tally.of(popularId) });
  };
  const messageId = await publishIt();
  const [ackedAt, popularBefore] = [performance.now(), tally.of(popularId)];
  await eventually(() => tally.of(messageId) === urgentSubscribers, { timeoutMs: patienceMs, intervalMs: 5 });
  const own = pushed.filter((push) => push.messageId === messageId);
  return {
    firstMs: Math.round(own[0]!.at - ackedAt),
    lastMs: Math.round(own.at(-1)!.at - ackedAt),
    pushesBefore: own.at(-1)!.popular - popularBefore,
  };
}

async function fill(documents: Documents, topicId: string, count: number): Promise<void> {
  let left = count;
  const write = async () => {
    while (left > 0) {
      const size = Math.min(subscribersPerCommit, left);
      left -= size;
      const each = Array.from({ length: size }, () => ({ platform, pushToken: newPushToken[platform]() }));
      // MongoDB can abort concurrent transactions under load. They are atomic, so it can be repeated.
      await eventually(() => addSubscribers(documents, topicId, each), { timeoutMs: patienceMs });
    }
  };
  await Promise.all(Array.from({ length: writers }, write));
}

async function publish({ client }: Account, topic: string, priority: number): Promise<string> {
  const headers = { 'X-Priority': String(priority) };
  return (await made(client.call('POST', `/${topic}`, { text: 'the pump stopped', headers }))).id as string;
}
