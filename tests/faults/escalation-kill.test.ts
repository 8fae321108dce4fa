import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import { acknowledgeMessage } from '@tocsin/shared/operations/escalation/acknowledge-message.ts';
import { closers, type Closers } from '@tocsin/shared/platform/lifecycle.ts';
import type { Documents } from '@tocsin/shared/ports/documents.ts';
import { devices } from '@tocsin/shared/collections/devices-collection.ts';
import { escalations } from '@tocsin/shared/collections/escalation/escalations.ts';
import { subscriptions } from '@tocsin/shared/collections/subscriptions-collection.ts';
import { topics } from '@tocsin/shared/collections/topics.ts';
import { users } from '@tocsin/shared/collections/users.ts';
import {
  newDevice,
  newId,
  newMessage,
  newPolicy,
  newSubscription,
  newTopic,
  newUser,
  testAudit,
} from '@tocsin/shared/testing/builders.ts';
import { describeWithEngines, type TestEngines } from '@tocsin/shared/testing/describe-with-engines.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { printMeasurements } from '@tocsin/shared/testing/figures.ts';
import { publish } from '@tocsin/shared/testing/test-engine.ts';
import { startExpoSimulator, type ExpoSimulator } from '@tocsin/simulators/expo-simulator.ts';
import { jumpingNotifiers, type JumpingNotifiers } from './jumping-notifiers.ts';
import { endProcess, newPushPlace, pushJobsMax, type PushPlace } from './push-place.ts';

const count = Number(process.env['TOCSIN_ESCALATIONS'] ?? 100);
const kills = Number(process.env['TOCSIN_ESCALATION_KILLS'] ?? 3);
const hourMs = 3_600_000;
/** The most that a policy allows. */
const repeatMax = 20;
/** Simulated: the clock of the notifier jumps by an hour, which is the interval of the repeats. */
const hours = Number(process.env['TOCSIN_ESCALATION_HOURS'] ?? 4);
/** Of the escalations, every second one is acknowledged, in the hour of its number. */
const isAcknowledged = (index: number): boolean => index % 2 === 0;
const ackHour = (index: number): number => 1 + (index % hours);
const patienceMs = 120_000;

describe('killing the notifier while it escalates, embedded', () => killTests(undefined));
describeWithEngines('killing the notifier while it escalates, on a cluster', (engines) => killTests(engines));

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

  async function arrange(): Promise<{ ids: string[]; topic: Topic }> {
    return place.withEngine(async (engine) => {
      const { documents } = engine;
      const escalation = newPolicy({ repeatEveryMs: hourMs, repeatMax });
      const topic = await documents.insert(topics, newTopic(newId(), { escalation }));
      const user = await documents.insert(users, newUser());
      await documents.insert(subscriptions, newSubscription(user.id, topic.id));
      await documents.insert(devices, newDevice(user.id));
      const ids: string[] = [];
      for (let index = 0; index < count; index++) {
        const message = newMessage(topic.id, { priority: 5, requiresAck: true });
        await publish(engine, topic, message);
        ids.push(message.id);
      }
      return { ids, topic };
    });
  }

  test(
    'misses no repeat, repeats none, and sends none after an acknowledgement',
    async () => {
      const { ids } = await arrange();
      /** The number of repeats that each message must have had by now. */
      const due = new Map(ids.map((id) => [id, 0]));
      const acknowledgedAt = new Map<string, number>();
      let child = await notifiers.start();
      await eventually(() => expo.pushes.length >= count, { timeoutMs: patienceMs });
      let killed = 0;
      const documents = await place.documents();
      for (let hour = 1; hour <= hours; hour++) {
        for (const [index, id] of ids.entries())
          if (isAcknowledged(index) && ackHour(index) === hour) {
            await acknowledge(documents, id, Date.now() + notifiers.aheadMs);
            acknowledgedAt.set(id, expo.pushes.length);
          }
        const waiting = ids.filter((id) => !acknowledgedAt.has(id));
        const repeats = Math.min(hour, repeatMax);
        for (const id of waiting) due.set(id, repeats);
        const before = expo.pushes.length;
        notifiers.jump(child, hourMs + 1_000);
        if (killed < kills && waiting.length > 0 && hour <= repeatMax) {
          await eventually(() => expo.pushes.length > before, { timeoutMs: patienceMs, intervalMs: 2 });
          await endProcess(child, 'SIGKILL');
          killed += 1;
          child = await notifiers.start();
        }
        await eventually(
          async () => {
            const found = await all(documents, waiting);
            expect(found.every(({ state }) => state.repeats === repeats)).toBe(true);
            expect(await place.jobsLeft()).toBe(0);
          },
          { timeoutMs: patienceMs, intervalMs: 500 },
        );
      }
      const loud = expo.pushes.filter(({ message }) => message.sound !== null);
      const perMessage = Map.groupBy(loud, ({ messageId }) => messageId!);
      const missed = ids.reduce(
        (sum, id) => sum + Math.max(0, 1 + due.get(id)! - (perMessage.get(id)?.length ?? 0)),
        0,
      );
      const afterAck = [...acknowledgedAt].filter(([id, at]) =>
        expo.pushes.slice(at).some(({ messageId, message }) => messageId === id && message.sound !== null),
      ).length;
      const twice = loud.length - ids.reduce((sum, id) => sum + 1 + due.get(id)!, 0) + missed;
      printMeasurements('escalations', {
        engine: engines === undefined ? 'embedded' : 'cluster',
        escalations: count,
        hours,
        kills: killed,
        pages: loud.length,
        missed,
        twice,
        afterAck,
      });
      expect({ missed, afterAck }).toEqual({ missed: 0, afterAck: 0 });
      // After a kill, each job that was sending can send its page again; a page has one device here.
      expect(twice).toBeLessThanOrEqual(killed * pushJobsMax.firstPages);
      await endProcess(child, 'SIGTERM');
    },
    (hours + 2) * patienceMs,
  );
}

/** As the API does; its record is left to the notifier. */
async function acknowledge(documents: Documents, id: string, now: number): Promise<void> {
  const { topicId } = (await documents.get(escalations, id))!;
  const message = { ...newMessage(topicId, { id, priority: 5, requiresAck: true }), offset: 0 };
  const by = { kind: 'account', name: 'ada', accountId: null } as const;
  await acknowledgeMessage(
    { documents, clock: () => now, makeAckKey: newId },
    message,
    { by, note: null, deviceId: null },
    testAudit,
  );
}

async function all(documents: Documents, ids: readonly string[]) {
  const found = [];
  for (let at = 0; at < ids.length; at += 1_000)
    found.push(...(await documents.getMany(escalations, ids.slice(at, at + 1_000))));
  return found;
}
