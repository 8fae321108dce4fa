import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { closers, type Closers } from '@tocsin/shared/platform/lifecycle.ts';
import { addSubscribers } from '@tocsin/shared/testing/add-subscribers.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { startExpoSimulator, type ExpoSimulator } from '@tocsin/shared/testing/simulators/expo-simulator.ts';
import { describeWithEngines, type TestEngines } from '@tocsin/shared/testing/describe-with-engines.ts';
import type { Message } from '@tocsin/shared/domain/message.ts';
import type { Deliveries } from '@tocsin/shared/ports/deliveries.ts';
import { printFigures } from '../figures.ts';
import { addTopic, endProcess, newPushPlace, publishTo, type PushPlace } from './push-place.ts';

const kills = Number(process.env['TOCSIN_KILLS'] ?? 1);
/** One page of them for each two kills. */
const subscriberCount = Number(process.env['TOCSIN_KILL_SUBSCRIBERS'] ?? 500 * Math.ceil(kills / 2));
/** A page is walked by one job, which has one batch of the provider under way: so much is in doubt after a kill. */
const pageSize = 500;
const batchSize = 100;
/** Lease and claims of a killed process end within this time. */
const recoveryMsMax = 15_000;
const patienceMs = 60_000;

describe('the notifier is killed while it sends, embedded', () => killTests(undefined));
describeWithEngines('the notifier is killed while it sends, on a cluster', (engines) => killTests(engines));

function killTests(engines: TestEngines | undefined): void {
  let own: Closers;
  let place: PushPlace;
  let expo: ExpoSimulator;

  beforeEach(async () => {
    own = closers();
    place = newPushPlace(engines, own);
    expo = await startExpoSimulator();
    own.add(() => expo.close());
  });
  afterEach(() => own.closeAll());

  test('nobody is missed, the rest is sent within 15 seconds, and what is sent twice replaces itself', async () => {
    const { pages, messageId } = await place.withEngine(async (engine) => {
      const topic = await addTopic(engine);
      await addSubscribers(engine.documents, topic.id, Array.from({ length: subscriberCount }, () => ({})));
      const message = await publishTo(engine, topic, { priority: 5 });
      return { pages: await pagesOf(engine.deliveries, message), messageId: message.id };
    });
    const reached = () => new Set(expo.pushes.map(({ token }) => token)).size;
    const goesOnAfterMs: number[] = [];
    const startedAt: number[] = [];
    let killedAt: number | undefined;
    const startNotifier = () => {
      startedAt.push(Date.now());
      return place.startNotifier({ EXPO_URL: expo.url });
    };
    const awaitRecovery = async () => {
      if (killedAt === undefined) return;
      const [before, since] = [expo.pushes.length, killedAt];
      await eventually(() => expo.pushes.length > before, { timeoutMs: patienceMs, intervalMs: 5 });
      goesOnAfterMs.push(Date.now() - since);
    };
    const step = Math.max(50, Math.floor(subscriberCount / (2 * kills + 2)));
    for (let kill = 0; kill < kills; kill++) {
      const child = startNotifier();
      await awaitRecovery();
      const before = reached();
      await eventually(() => reached() > before + step, { timeoutMs: patienceMs, intervalMs: 5 });
      await endProcess(child, 'SIGKILL');
      killedAt = Date.now();
    }
    expect(reached()).toBeLessThan(subscriberCount);
    const child = startNotifier();
    await awaitRecovery();
    await eventually(async () => reached() === subscriberCount && await place.jobsLeft() === 0, { timeoutMs: patienceMs, intervalMs: 250 });
    const recoveredMs = expo.pushes.at(-1)!.at - killedAt!;
    const twice = pushedTwice(expo.pushes, { startedAt, pages });
    printFigures('notifier killed', {
      engine: engines === undefined ? 'embedded' : 'cluster', kills, devices: subscriberCount, missed: subscriberCount - reached(),
      twice: expo.pushes.length - subscriberCount, twicePerKillMax: twice.perKillMax, twicePerKillAndPageMax: twice.perKillAndPageMax,
      goesOnAfterMsMax: Math.max(...goesOnAfterMs), recoveredMs,
    });
    expect(twice.perKillAndPageMax).toBeLessThanOrEqual(batchSize);
    for (const ms of [...goesOnAfterMs, recoveredMs]) expect(ms).toBeLessThan(recoveryMsMax);
    expect(new Set(expo.pushes.map(({ message }) => message.collapseId))).toEqual(new Set([messageId]));
    expect(await endProcess(child, 'SIGTERM')).toEqual([0, null]);
    await place.withEngine(async (engine) => {
      expect(await engine.deliveries.counts(messageId)).toMatchObject({ sent: subscriberCount, pending: 0, failed: 0 });
    });
  }, (kills + 1) * 2 * patienceMs);
}

/** The devices of each page of the topic's recipients, as jobs walk them. */
async function pagesOf(deliveries: Deliveries, message: Message): Promise<string[][]> {
  const pages: string[][] = [];
  let after: string | null = null;
  do {
    const page: Awaited<ReturnType<Deliveries['recipients']>> = await deliveries.recipients({ topicId: message.topicId, message }, { after, limit: pageSize });
    pages.push(page.recipients.flatMap(({ devices }) => devices.map(({ pushToken }) => pushToken)));
    after = page.next;
  } while (after !== null);
  return pages;
}

/** How many pushes of one process came again from a later one: of all pages, and of one. */
function pushedTwice(pushes: ExpoSimulator['pushes'], { startedAt, pages }: { startedAt: readonly number[]; pages: readonly string[][] }): { perKillMax: number; perKillAndPageMax: number } {
  const pageOf = new Map(pages.flatMap((tokens, page) => tokens.map((token) => [token, page] as const)));
  const lastRun = new Map<string, number>();
  const repeated: { run: number; page: number }[] = [];
  for (const { token, at } of pushes) {
    const before = lastRun.get(token);
    if (before !== undefined) repeated.push({ run: before, page: pageOf.get(token)! });
    lastRun.set(token, startedAt.findLastIndex((time) => time <= at));
  }
  const largest = (groups: Map<unknown, unknown[]>) => Math.max(0, ...[...groups.values()].map((group) => group.length));
  return {
    perKillMax: largest(Map.groupBy(repeated, ({ run }) => run)),
    perKillAndPageMax: largest(Map.groupBy(repeated, ({ run, page }) => `${run} ${page}`)),
  };
}
