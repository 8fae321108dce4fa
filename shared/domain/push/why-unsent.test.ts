import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { newDevice, newId, newMessage, newSubscription } from '../../testing/builders.ts';
import { platforms } from './device.ts';
import type { Priority } from '../messages/message.ts';
import { pushFilterFault } from './push-filter.ts';
import { whyUnsent } from './why-unsent.ts';

const now = 1_800_000_000_000;
const minuteMs = 60_000;
const message = {
  ...newMessage(newId()),
  priority: 3 as Priority,
  tags: ['disk', 'cellar'],
  timestamp: now - minuteMs,
  offset: 1,
};
const subscriptionWith = (given: object = {}) => ({
  ...newSubscription(newId(), newId(), { createdAt: now - 2 * minuteMs, ...given }),
  version: 1,
});
const deviceWith = (given: object = {}) => ({
  ...newDevice(newId(), { createdAt: now - 2 * minuteMs, ...given }),
  version: 1,
});
const why = ({
  subscription = subscriptionWith(),
  device = deviceWith(),
  at = now,
  of = message,
}: {
  subscription?: ReturnType<typeof subscriptionWith> | null;
  device?: ReturnType<typeof deviceWith>;
  at?: number;
  of?: typeof message;
} = {}) => whyUnsent(of, { device, subscription, now: at });

test.each([
  ['deleted message', { of: { ...message, isDeleted: true } }, 'message deleted'],
  [
    'device registered after the message',
    { device: deviceWith({ createdAt: now }) },
    'the device was registered after the message',
  ],
  ['inactive device', { device: deviceWith({ isActive: false }) }, 'the device is inactive'],
  ['user without a subscription', { subscription: null }, 'not subscribed to the topic'],
  [
    'mobile notifications off',
    { subscription: subscriptionWith({ mobileEnabled: false }) },
    'mobile notifications are off for the topic',
  ],
  [
    'web notifications off',
    { subscription: subscriptionWith({ webEnabled: false }), device: deviceWith({ platform: 'web' }) },
    'web notifications are off for the topic',
  ],
  [
    'priority below the threshold',
    { subscription: subscriptionWith({ priorityThreshold: 4 }) },
    'priority 3 is below the threshold of 4',
  ],
  [
    'no matching tag',
    { subscription: subscriptionWith({ tagsFilter: ['net', 'Disk'] }) },
    'no tag of the filter: net, Disk',
  ],
  [
    'subscription created after the message',
    { subscription: subscriptionWith({ createdAt: now }) },
    'subscribed after the message',
  ],
  [
    'settings changed since the message',
    { at: now + 60 * minuteMs },
    'blocked by earlier settings, which have changed since',
  ],
])('gives the reason: %s', (_case, given, reason) => {
  expect(why(given)).toEqual({ status: 'skipped', reason });
});

test('gives no reason if no rule blocks the push', () => {
  expect(why()).toEqual({ status: 'pending', reason: null });
});

test('gives a reason exactly for messages that the filter blocks', () => {
  const tags = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'A'), { maxLength: 3 });
  const priorities = fc.integer({ min: 1, max: 5 }) as fc.Arbitrary<Priority>;
  const settings = fc.record({
    mobileEnabled: fc.boolean(),
    webEnabled: fc.boolean(),
    priorityThreshold: priorities,
    tagsFilter: tags,
  });
  fc.assert(
    fc.property(settings, priorities, tags, fc.constantFrom(...platforms), (chosen, priority, sentTags, platform) => {
      const subscription = subscriptionWith(chosen);
      const of = { ...message, priority, tags: sentTags };
      const fault = pushFilterFault(subscription, of, platform);
      expect(why({ subscription, of, device: deviceWith({ platform }) })).toEqual(
        fault === null ? { status: 'pending', reason: null } : { status: 'skipped', reason: fault },
      );
    }),
  );
});
