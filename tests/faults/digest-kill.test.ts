import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { closers, type Closers } from '@tocsin/shared/platform/lifecycle.ts';
import type { Documents } from '@tocsin/shared/ports/documents.ts';
import { devices } from '@tocsin/shared/collections/devices-collection.ts';
import { digestItems, digests } from '@tocsin/shared/collections/push/digests.ts';
import { subscriptions } from '@tocsin/shared/collections/subscriptions-collection.ts';
import { users } from '@tocsin/shared/collections/users.ts';
import { newDevice, newSubscription, newUser } from '@tocsin/shared/testing/builders.ts';
import { describeWithEngines, type TestEngines } from '@tocsin/shared/testing/describe-with-engines.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { printMeasurements } from '@tocsin/shared/testing/figures.ts';
import { startExpoSimulator, type ExpoSimulator } from '@tocsin/simulators/expo-simulator.ts';
import { jumpingNotifiers, type JumpingNotifiers } from './jumping-notifiers.ts';
import { addTopic, endProcess, newPushPlace, publishTo, type PushPlace } from './push-place.ts';

const readers = Number(process.env['TOCSIN_DIGESTS'] ?? 120);
const messagesPerReader = 5;
const hourMs = 3_600_000;
const patienceMs = 120_000;

describe('killing the notifier while it collects and sends digests, embedded', () => killTests(undefined));
describeWithEngines('killing the notifier while it collects and sends digests, on a cluster', (engines) =>
  killTests(engines),
);

function killTests(engines: TestEngines | undefined): void {
  let own: Closers;
  let place: PushPlace;
  let expo: ExpoSimulator;
  let notifiers: JumpingNotifiers;
  beforeEach(async () => {
    own = closers();
    place = newPushPlace(engines, own);
    expo = await startExpoSimulator();
    own.add(() => expo.close());
    notifiers = jumpingNotifiers(place, { own, env: { EXPO_URL: expo.url } });
  });
  afterEach(() => own.closeAll());

  async function arrange(): Promise<Map<string, string>> {
    return place.withEngine(async (engine) => {
      const { documents } = engine;
      const topic = await addTopic(engine);
      const userOfToken = new Map<string, string>();
      for (let index = 0; index < readers; index++) {
        const user = await documents.insert(users, newUser());
        await documents.insert(subscriptions, newSubscription(user.id, topic.id, { digest: '1h' }));
        const { pushToken } = await documents.insert(devices, newDevice(user.id));
        userOfToken.set(pushToken, user.id);
      }
      for (let index = 0; index < messagesPerReader; index++) await publishTo(engine, topic, { priority: 3 });
      return userOfToken;
    });
  }

  const openDigests = (documents: Documents) => documents.find(digests, { index: 'byDue', equals: {}, limit: 1 });
  const itemsLeft = (documents: Documents, userIds: Iterable<string>) =>
    Promise.all(
      [...userIds].map((userId) => documents.count(digestItems, { index: 'byUser', equals: { userId } })),
    ).then((counts) => counts.reduce((sum, count) => sum + count, 0));

  test(
    'loses no message and repeats no more digests than were under way',
    async () => {
      const userOfToken = await arrange();
      const userIds = [...userOfToken.values()];
      let child = await notifiers.start();
      const documents = await place.documents();

      // Killed while it collects.
      await eventually(async () => (await openDigests(documents)).length > 0, { timeoutMs: patienceMs, intervalMs: 2 });
      await endProcess(child, 'SIGKILL');
      child = await notifiers.start();
      const all = readers * messagesPerReader;
      await eventually(
        async () => {
          expect(await itemsLeft(documents, userIds)).toBe(all);
          expect(await place.jobsLeft()).toBe(0);
        },
        { timeoutMs: patienceMs, intervalMs: 500 },
      );
      expect(expo.pushes).toEqual([]);

      // Killed while it sends.
      notifiers.jump(child, hourMs + 60_000);
      await eventually(() => expo.pushes.length > 0, { timeoutMs: patienceMs, intervalMs: 2 });
      await endProcess(child, 'SIGKILL');
      // The lease of the digests that were under way ends.
      notifiers.aheadMs += 2 * 60_000;
      child = await notifiers.start();
      await eventually(async () => expect(await openDigests(documents)).toEqual([]), {
        timeoutMs: patienceMs,
        intervalMs: 500,
      });
      expect(await itemsLeft(documents, userIds)).toBe(0);

      const perToken = Map.groupBy(expo.pushes, ({ token }) => token);
      const counts = [...userOfToken.keys()].map((token) => (perToken.get(token) ?? []).map(countOf));
      const lost = counts.filter((of) => !of.includes(messagesPerReader)).length;
      const twice = counts.reduce((sum, of) => sum + Math.max(0, of.length - 1), 0);
      printMeasurements('digests', {
        engine: engines === undefined ? 'embedded' : 'cluster',
        digests: readers,
        messages: all,
        lost,
        twice,
      });
      expect(lost).toBe(0);
      // Ten are sent concurrently.
      expect(twice).toBeLessThanOrEqual(10);
      for (const pushes of perToken.values())
        expect(new Set(pushes.map(({ message }) => message.collapseId)).size).toBe(1);
      await endProcess(child, 'SIGTERM');
    },
    8 * patienceMs,
  );
}

const countOf = ({ message }: ExpoSimulator['pushes'][number]): unknown => (message.data as { count?: number }).count;
