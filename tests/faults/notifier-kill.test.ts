import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Topic } from '@tocsin/shared/domain/topic.ts';
import type { Engine } from '@tocsin/shared/ports/engine.ts';
import { closers, type Closers } from '@tocsin/shared/platform/lifecycle.ts';
import { write } from '@tocsin/shared/ports/documents.ts';
import { devices } from '@tocsin/shared/stores/devices-collection.ts';
import { subscriptions } from '@tocsin/shared/stores/subscriptions-collection.ts';
import { topics } from '@tocsin/shared/stores/topics.ts';
import { users } from '@tocsin/shared/stores/users.ts';
import { newDevice, newId, newMessage, newSubscription, newTopic, newUser } from '@tocsin/shared/testing/builders.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { startExpoSimulator, type ExpoSimulator } from '@tocsin/shared/testing/simulators/expo-simulator.ts';
import { newTestPlace, openTestEngine, publish, type TestPlace } from '@tocsin/shared/testing/test-engine.ts';
import { describeWithEngines, type TestEngines } from '@tocsin/shared/testing/describe-with-engines.ts';

const main = fileURLToPath(new URL('../../services/notifier/main.ts', import.meta.url));
const subscriberCount = Number(process.env['TOCSIN_KILL_SUBSCRIBERS'] ?? 1_500);
const kills = Number(process.env['TOCSIN_KILLS'] ?? 1);
/** A kill leaves at most the batches under way in doubt: six jobs at a time, a hundred pushes each. */
const inDoubtMax = 600;
/** Lease, claim and consumer group of a killed process end within this time. */
const recoveryMs = 60_000;

describe('the notifier is killed while it sends, embedded', () => killTests(undefined));
describeWithEngines('the notifier is killed while it sends, on a cluster', (engines) => killTests(engines));

function killTests(engines: TestEngines | undefined): void {
  let own: Closers;
  let place: TestPlace;
  let expo: ExpoSimulator;

  beforeEach(async () => {
    own = closers();
    place = newTestPlace(engines);
    own.add(() => place.remove());
    expo = await startExpoSimulator();
    own.add(() => expo.close());
  });
  afterEach(() => own.closeAll());

  const startNotifier = (): ChildProcess => {
    const child = spawn(process.execPath, [main], { env: { ...process.env, ...place.env, EXPO_URL: expo.url }, stdio: ['ignore', 'inherit', 'inherit'] });
    own.add(() => void child.kill('SIGKILL'));
    return child;
  };
  const withEngine = async <T>(use: (engine: Engine) => Promise<T>): Promise<T> => {
    const engine = await openTestEngine(place);
    try {
      return await use(engine);
    } finally {
      await engine.close();
    }
  };

  test('nobody is missed, and what is sent twice replaces itself', async () => {
    const { tokens, messageId } = await withEngine(async (engine) => {
      const topic = await engine.documents.insert(topics, newTopic(newId()));
      const all = await subscribe(engine, topic, subscriberCount);
      const message = newMessage(topic.id, { priority: 5 });
      await publish(engine, topic, message);
      return { tokens: all, messageId: message.id };
    });
    for (let kill = 0; kill < kills; kill++) {
      const before = expo.pushes.length;
      const child = startNotifier();
      await eventually(() => expo.pushes.length > before + 200, { timeoutMs: recoveryMs });
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    }
    const killedAt = expo.pushes.length;
    expect(killedAt).toBeLessThan(subscriberCount);
    const child = startNotifier();
    await eventually(() => new Set(expo.pushes.map(({ token }) => token)).size === tokens.length, { timeoutMs: recoveryMs });
    const duplicates = expo.pushes.length - tokens.length;
    expect(duplicates).toBeLessThanOrEqual(kills * inDoubtMax);
    expect(new Set(expo.pushes.map(({ message }) => message.collapseId))).toEqual(new Set([messageId]));
    const gone = once(child, 'exit');
    child.kill('SIGTERM');
    expect(await gone).toEqual([0, null]);
    await withEngine(async (engine) => {
      expect(await engine.deliveries.counts(messageId)).toMatchObject({ sent: tokens.length, pending: 0, failed: 0 });
    });
  }, (kills + 1) * 2 * recoveryMs);
}

async function subscribe(engine: Engine, topic: Topic, count: number): Promise<string[]> {
  const tokens: string[] = [];
  for (let made = 0; made < count; made += 300) {
    await engine.documents.commit(Array.from({ length: Math.min(300, count - made) }, () => {
      const user = newUser();
      const device = newDevice(user.id);
      tokens.push(device.pushToken);
      return [write.insert(users, user), write.insert(devices, device), write.insert(subscriptions, newSubscription(user.id, topic.id))];
    }).flat());
  }
  return tokens;
}
