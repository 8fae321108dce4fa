import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Device } from '@tocsin/shared/domain/push/device.ts';
import { pushQueues } from '@tocsin/shared/domain/push/push-job.ts';
import type { Message, Priority } from '@tocsin/shared/domain/messages/message.ts';
import type { QuietHours } from '@tocsin/shared/domain/push/subscription.ts';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import { write, type Write } from '@tocsin/shared/ports/documents.ts';
import { devices } from '@tocsin/shared/collections/devices-collection.ts';
import { subscriptions } from '@tocsin/shared/collections/subscriptions-collection.ts';
import { teamMembers, teams } from '@tocsin/shared/collections/teams.ts';
import { topics } from '@tocsin/shared/collections/topics.ts';
import { users } from '@tocsin/shared/collections/users.ts';
import {
  newDevice,
  newMember,
  newPushToken,
  newSubscription,
  newTeam,
  newUser,
} from '@tocsin/shared/testing/builders.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { engineUnderTest, enginesUnderTest } from '@tocsin/shared/testing/test-engine.ts';
import type { PushGateway } from './providers/push-gateway.ts';
import { openPushInstallation, type PushInstallation } from './push-installation.fixtures.ts';

const settingsCount = 1_000;
const messageCount = 10;
const minuteMs = 60_000;
const patienceMs = 50_000;
/** Repeat a failure with the seed that it prints. */
const seed = Number(process.env['TOCSIN_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
const commitSize = 300;

const priority = fc.integer({ min: 1, max: 5 }) as fc.Arbitrary<Priority>;
const tags = fc.uniqueArray(fc.constantFrom('a', 'b', 'A', 'ab', 'pump', '🔥', 'é', "it's", '$a'), { maxLength: 3 });
const clock = fc
  .tuple(fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 59 }))
  .map((parts) => parts.map((part) => String(part).padStart(2, '0')).join(':'));
const timezone = fc.constantFrom(
  'Etc/UTC',
  'Europe/Berlin',
  'America/New_York',
  'Asia/Kolkata',
  'Pacific/Chatham',
  'Pacific/Pago_Pago',
);
const quietHours = fc
  .record({ start: clock, end: clock, timezone, allowPriority: fc.option(priority) })
  .filter((hours) => minutesToBoundary(hours) > 30);
const often = fc.constantFrom(true, true, true, true, false);

/** A subscriber and all settings that decide whether a message reaches the devices. */
const subscriber = fc.record({
  isAccountActive: often,
  isMember: often,
  mobileEnabled: often,
  priorityThreshold: priority,
  tagsFilter: fc.oneof(fc.constant([]), tags),
  quietHours: fc.option(quietHours, { freq: 1 }),
  maxPerMinute: fc.option(fc.integer({ min: 1, max: 4 }), { freq: 1 }),
  phones: fc.array(
    fc.record({
      isActive: often,
      platform: fc.constantFrom('expo', 'expo', 'ios', 'android') as fc.Arbitrary<Device['platform']>,
    }),
    { maxLength: 2 },
  ),
});
type Subscriber = typeof subscriber extends fc.Arbitrary<infer T> ? T : never;

/** An independent implementation from the interface document: whether the settings allow a push at this time. */
function wants(one: Subscriber, message: { priority: number; tags: readonly string[] }): boolean {
  if (!one.mobileEnabled) return false;
  if (message.priority < one.priorityThreshold) return false;
  if (one.tagsFilter.length > 0) {
    let shared = false;
    for (const wanted of one.tagsFilter) for (const tag of message.tags) if (wanted === tag) shared = true;
    if (!shared) return false;
  }
  if (one.quietHours !== null && isQuiet(one.quietHours)) {
    if (one.quietHours.allowPriority === null) return false;
    if (message.priority < one.quietHours.allowPriority) return false;
  }
  return true;
}

function wallClock(zone: string): string {
  return new Intl.DateTimeFormat('en-GB', {
    timeZone: zone,
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  }).format(Date.now());
}

function isQuiet({ start, end, timezone: zone }: QuietHours): boolean {
  const now = wallClock(zone);
  return start < end ? start <= now && now < end : now >= start || now < end;
}

/** The distance between the local time and the ends of the hours, so that none is passed during the test. */
function minutesToBoundary({ start, end, timezone: zone }: Omit<QuietHours, 'allowPriority'>): number {
  const minutes = (time: string): number => Number(time.slice(0, 2)) * 60 + Number(time.slice(3));
  const apart = (a: string, b: string): number => {
    const ahead = (minutes(a) - minutes(b) + 1_440) % 1_440;
    return Math.min(ahead, 1_440 - ahead);
  };
  return start === end ? 0 : Math.min(apart(start, wallClock(zone)), apart(end, wallClock(zone)));
}

describe(`random settings and messages, ${engineUnderTest}`, () => {
  let at: PushInstallation;
  beforeEach(async () => {
    at = await openPushInstallation(enginesUnderTest());
  });
  afterEach(() => at.close());

  /** One topic for team members only, and one public topic. */
  async function addTopics(): Promise<{ open: Topic; closed: Topic }> {
    const [open, closed] = [await at.addTopic(), await at.addTopic({ accessLevel: 'private' })];
    const team = await at.engine.documents.insert(teams, newTeam(closed.ownerId));
    return { open, closed: await at.engine.documents.update(topics, closed, { teamId: team.id }) };
  }

  async function addAll(all: readonly Subscriber[], topic: Topic): Promise<Given['all']> {
    const writes: Write[] = [];
    const added = all.map((one) => {
      const user = newUser({ isActive: one.isAccountActive });
      const { mobileEnabled, priorityThreshold, tagsFilter, quietHours: quiet, maxPerMinute } = one;
      const subscription = newSubscription(user.id, topic.id, {
        mobileEnabled,
        priorityThreshold,
        tagsFilter,
        quietHours: quiet,
        maxPerMinute,
      });
      const phones = one.phones.map(({ isActive, platform }) =>
        newDevice(user.id, { isActive, platform, pushToken: newPushToken[platform]() }),
      );
      writes.push(
        write.insert(users, user),
        write.insert(subscriptions, subscription),
        ...phones.map((phone) => write.insert(devices, phone)),
      );
      if (one.isMember && topic.teamId !== null)
        writes.push(write.insert(teamMembers, newMember(topic.teamId, user.id)));
      // No pushes to Android devices, because FCM is not configured.
      return {
        one,
        tokens: phones
          .filter(({ isActive, platform }) => isActive && platform !== 'android')
          .map(({ pushToken }) => pushToken),
      };
    });
    for (let start = 0; start < writes.length; start += commitSize)
      await at.engine.documents.commit(writes.slice(start, start + commitSize));
    return added;
  }

  test('1,000 random settings allow exactly the messages that the interface specifies', async () => {
    const { open, closed } = await addTopics();
    const given = fc.sample(subscriber, { seed, numRuns: settingsCount });
    const byTopic = [
      { topic: open, isOpen: true, all: await addAll(given.slice(0, settingsCount / 2), open) },
      { topic: closed, isOpen: false, all: await addAll(given.slice(settingsCount / 2), closed) },
    ];
    const reached = new Map<string, string[]>();
    const gateway: PushGateway = {
      batchSizeMax: 100,
      payloadBytesMax: 4_096,
      close: () => Promise.resolve(),
      send: (batch) =>
        Promise.resolve(
          batch.map(({ pushToken, content: { data } }) => {
            if ('message_id' in data) reached.set(pushToken, [...(reached.get(pushToken) ?? []), data.message_id]);
            return { kind: 'accepted' };
          }),
        ),
    };
    const startedAt = at.clock();
    const messages: Message[] = [];
    for (const fields of fc.sample(fc.record({ priority, tags }), { seed, numRuns: messageCount })) {
      for (const { topic } of byTopic) messages.push(await at.publish(topic, fields));
    }
    const lastTopic = await at.addTopic();
    const { device: last } = await at.addSubscriber(lastTopic);
    await at.start(
      {},
      {
        gateways: new Map([
          ['expo', gateway],
          ['ios', gateway],
        ]),
      },
    );
    await at.publish(lastTopic);
    // It has the same partition, so that the jobs of all others are stored by then.
    await eventually(() => reached.has(last.pushToken), { timeoutMs: patienceMs });
    await eventually(
      async () => {
        const counts = await Promise.all(Object.values(pushQueues).map((queue) => at.engine.jobQueue.counts(queue)));
        return counts.every(({ waiting, active }) => waiting + active === 0);
      },
      { timeoutMs: patienceMs },
    );
    const minutes = Math.floor(at.clock() / minuteMs) - Math.floor(startedAt / minuteMs) + 1;

    const { mismatches, pushed } = compare(byTopic, { messages, reached, minutes });
    process.stdout.write(
      `${JSON.stringify({ test: 'push filters', engine: engineUnderTest, seed, settings: settingsCount, messages: messages.length, pushed, mismatches: mismatches.length })}\n`,
    );
    expect({ seed, mismatches }).toEqual({ seed, mismatches: [] });
    // Typically 900 to 1,600; with almost none, the test would compare nothing.
    expect(pushed).toBeGreaterThan(settingsCount / 4);
  });
});

interface Given {
  readonly topic: Topic;
  readonly isOpen: boolean;
  readonly all: readonly { readonly one: Subscriber; readonly tokens: readonly string[] }[];
}

/** Differences between received and expected messages. */
function compare(
  given: readonly Given[],
  {
    messages,
    reached,
    minutes,
  }: { messages: readonly Message[]; reached: ReadonlyMap<string, string[]>; minutes: number },
): { mismatches: unknown[]; pushed: number } {
  const mismatches: unknown[] = [];
  let pushed = 0;
  for (const { topic, isOpen, all } of given) {
    for (const { one, tokens } of all) {
      const mayRead = one.isAccountActive && (isOpen || one.isMember);
      const wanted = messages
        .filter((message) => message.topicId === topic.id && mayRead && wants(one, message))
        .map(({ id }) => id);
      for (const token of tokens) {
        const got = reached.get(token) ?? [];
        pushed += got.length;
        const isRight =
          one.maxPerMinute === null
            ? got.length === wanted.length && got.every((id) => wanted.includes(id))
            : isLimited(got, wanted, { one: one.maxPerMinute, minutes });
        if (!isRight) mismatches.push({ settings: one, isOpen, wanted, got });
      }
    }
  }
  return { mismatches, pushed };
}

/** Each message at most once, at least as many as the limit allows, and not more per minute. */
function isLimited(
  got: readonly string[],
  wanted: readonly string[],
  limit: { one: number; minutes: number },
): boolean {
  const isSubset = new Set(got).size === got.length && got.every((id) => wanted.includes(id));
  return isSubset && got.length >= Math.min(wanted.length, limit.one) && got.length <= limit.one * limit.minutes;
}
