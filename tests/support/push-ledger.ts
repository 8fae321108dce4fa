import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from '@jest/globals';
import type { OperatorStore } from '@tocsin/shared/open-engine.ts';
import type { ExpoSimulator } from '@tocsin/simulators/expo-simulator.ts';
import type { Acked } from '../ledger/ledger.ts';
import { createAccount } from './stack.ts';

/** Longer than the next notifier takes to take over the jobs of a killed one. */
const silenceMsMax = 90_000;

export interface DeviceVerdict {
  readonly device: string;
  readonly expected: number;
  /** Matching messages that never reached the device. */
  readonly missing: number;
  /** Messages that its settings exclude, or that were never published. */
  readonly unexpected: number;
  /** Repeated pushes of a message. */
  readonly repeated: number;
}

/** Phones with different settings, and the pushes that the provider accepted for each of them. */
export interface PushLedger {
  /** Resolves when every expected push has arrived, or when none arrived for 90 s. */
  settled(acked: readonly Acked[]): Promise<void>;
  verify(acked: readonly Acked[]): DeviceVerdict[];
}

const phones = [
  { device: 'everything', settings: {}, matches: () => true },
  { device: 'urgent only', settings: { priority_threshold: 5 }, matches: ({ line }: Acked) => line.priority >= 5 },
  { device: 'unused tag', settings: { tags_filter: ['unused'] }, matches: () => false },
];

/** Registers the phones, each with its own account that subscribes to all topics. */
export async function pushLedger(
  expo: ExpoSimulator,
  of: { store: OperatorStore; urls: readonly string[]; topics: readonly string[] },
): Promise<PushLedger> {
  const tokens = new Map<string, string>();
  for (const { device, settings } of phones) {
    const { client } = await createAccount(of.store, { urls: of.urls });
    const token = `ExponentPushToken[${randomUUID()}]`;
    tokens.set(device, token);
    const registered = await client.call('POST', '/api/devices/register', {
      json: { push_token: token, platform: 'expo', device_id: device },
    });
    expect(registered.status).toBe(201);
    for (const topic_name of of.topics) {
      const subscribed = await client.call('POST', '/api/subscriptions', {
        json: { topic_name, mobile_notification_settings: settings },
      });
      expect(subscribed.status).toBe(201);
    }
  }
  const verify = (acked: readonly Acked[]) =>
    phones.map(({ device, matches }): DeviceVerdict => {
      const ids = expo.pushes.filter(({ token }) => token === tokens.get(device)).map(({ messageId }) => messageId);
      const got = new Set(ids);
      const expected = new Set(acked.filter((one) => matches(one)).map(({ id }) => id));
      return {
        device,
        expected: expected.size,
        missing: expected.difference(got).size,
        unexpected: got.difference(expected).size,
        repeated: ids.length - got.size,
      };
    });
  return {
    verify,
    async settled(acked) {
      let arrived = -1;
      let arrivedAt = performance.now();
      // A slow machine needs longer for all of them.
      while (verify(acked).some(({ missing }) => missing > 0) && performance.now() - arrivedAt < silenceMsMax) {
        if (expo.pushes.length > arrived) arrivedAt = performance.now();
        arrived = expo.pushes.length;
        await pause(250);
      }
    },
  };
}
