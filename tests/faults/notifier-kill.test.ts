import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { closers, type Closers } from '@tocsin/shared/platform/lifecycle.ts';
import { addSubscribers } from '@tocsin/shared/testing/add-subscribers.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { startExpoSimulator, type ExpoSimulator } from '@tocsin/shared/testing/simulators/expo-simulator.ts';
import { describeWithEngines, type TestEngines } from '@tocsin/shared/testing/describe-with-engines.ts';
import { printFigures } from '../figures.ts';
import { addTopic, endProcess, newPushPlace, publishTo, type PushPlace } from './push-place.ts';

const kills = Number(process.env['TOCSIN_KILLS'] ?? 1);
/** One page of them for each two kills: a page is walked by one job, so a kill leaves one batch in doubt. */
const subscriberCount = Number(process.env['TOCSIN_KILL_SUBSCRIBERS'] ?? 500);
const batchSize = 100;
const pageSize = 500;
/** Jobs of urgent pushes at a time, each of which has a batch under way. */
const jobsMax = 4;
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
    const { tokens, messageId } = await place.withEngine(async (engine) => {
      const topic = await addTopic(engine);
      const made = await addSubscribers(engine.documents, topic.id, Array.from({ length: subscriberCount }, () => ({})));
      return { tokens: made.map(({ pushToken }) => pushToken), messageId: (await publishTo(engine, topic, { priority: 5 })).id };
    });
    const reached = () => new Set(expo.pushes.map(({ token }) => token)).size;
    const goesOnAfterMs: number[] = [];
    let killedAt: number | undefined;
    const awaitRecovery = async () => {
      if (killedAt === undefined) return;
      const [before, since] = [expo.pushes.length, killedAt];
      await eventually(() => expo.pushes.length > before, { timeoutMs: patienceMs, intervalMs: 5 });
      goesOnAfterMs.push(Date.now() - since);
    };
    const step = Math.max(50, Math.floor(subscriberCount / (2 * kills + 2)));
    for (let kill = 0; kill < kills; kill++) {
      const child = place.startNotifier({ EXPO_URL: expo.url });
      await awaitRecovery();
      const before = reached();
      await eventually(() => reached() > before + step, { timeoutMs: patienceMs, intervalMs: 5 });
      await endProcess(child, 'SIGKILL');
      killedAt = Date.now();
    }
    expect(reached()).toBeLessThan(subscriberCount);
    const child = place.startNotifier({ EXPO_URL: expo.url });
    await awaitRecovery();
    await eventually(async () => reached() === tokens.length && await place.jobsLeft() === 0, { timeoutMs: patienceMs, intervalMs: 250 });
    const recoveredMs = expo.pushes.at(-1)!.at - killedAt!;
    const twice = expo.pushes.length - tokens.length;
    const jobsAtOnce = Math.min(jobsMax, Math.ceil(subscriberCount / pageSize));
    printFigures('notifier killed', { engine: engines === undefined ? 'embedded' : 'cluster', kills, devices: subscriberCount, missed: tokens.length - reached(), twice, goesOnAfterMs, recoveredMs });
    expect(twice).toBeLessThanOrEqual(kills * batchSize * jobsAtOnce);
    for (const ms of [...goesOnAfterMs, recoveredMs]) expect(ms).toBeLessThan(recoveryMsMax);
    expect(new Set(expo.pushes.map(({ message }) => message.collapseId))).toEqual(new Set([messageId]));
    expect(await endProcess(child, 'SIGTERM')).toEqual([0, null]);
    await place.withEngine(async (engine) => {
      expect(await engine.deliveries.counts(messageId)).toMatchObject({ sent: tokens.length, pending: 0, failed: 0 });
    });
  }, (kills + 1) * 2 * patienceMs);
}
