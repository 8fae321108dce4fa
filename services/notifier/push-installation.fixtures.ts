import { pushQueues } from '@tocsin/shared/domain/push/push-job.ts';
import type { Device } from '@tocsin/shared/domain/push/device.ts';
import type { LogRecord } from '@tocsin/shared/domain/messages/log-record.ts';
import type { Message } from '@tocsin/shared/domain/messages/message.ts';
import type { Subscription } from '@tocsin/shared/domain/push/subscription.ts';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import type { User } from '@tocsin/shared/domain/accounts/user.ts';
import type { Delivery } from '@tocsin/shared/ports/deliveries.ts';
import type { Engine } from '@tocsin/shared/ports/engine.ts';
import { idSource } from '@tocsin/shared/platform/ids.ts';
import { closers, withClosers } from '@tocsin/shared/platform/lifecycle.ts';
import { openLogger } from '@tocsin/shared/platform/logger.ts';
import { devices } from '@tocsin/shared/collections/devices-collection.ts';
import { subscriptions } from '@tocsin/shared/collections/subscriptions-collection.ts';
import { topics } from '@tocsin/shared/collections/topics.ts';
import { users } from '@tocsin/shared/collections/users.ts';
import { addSubscribers } from '@tocsin/shared/testing/add-subscribers.ts';
import { newDevice, newId, newMessage, newSubscription, newTopic, newUser } from '@tocsin/shared/testing/builders.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { startExpoSimulator, type ExpoSimulator } from '@tocsin/simulators/expo-simulator.ts';
import { newTestPlace, openTestEngine, publish, type TestPlace } from '@tocsin/shared/testing/test-engine.ts';
import type { TestEngines } from '@tocsin/shared/testing/read-test-engines.ts';
import type { PushLimits } from './sending/push-deps.ts';
import { startNotifier, type NotifierOptions } from './start-notifier.ts';

/** A user with a device and a subscription to a topic. */
export interface Subscriber {
  readonly user: User;
  readonly subscription: Subscription;
  readonly device: Device;
}

export interface SubscriberFields {
  readonly user?: Partial<User>;
  readonly subscription?: Partial<Subscription>;
  readonly device?: Partial<Device>;
}

/** An installation with a notifier, an Expo simulator, and a clock that tests advance. */
export interface PushInstallation {
  readonly engine: Engine;
  readonly expo: ExpoSimulator;
  readonly place: TestPlace;
  clock(): number;
  setAhead(ms: number): void;
  /** Without a limit of their own, pushes have a badge also on a machine that takes minutes to send them. */
  start(limits?: Partial<PushLimits>, given?: Partial<NotifierOptions>): Promise<{ close(): Promise<void> }>;
  addTopic(given?: Partial<Topic>): Promise<Topic>;
  addSubscriber(topic: Topic, given?: SubscriberFields): Promise<Subscriber>;
  /** Adds many users in few commits. */
  addSubscribers(topic: Topic, count: number): Promise<string[]>;
  publish(topic: Topic, given?: Partial<Message>): Promise<Message>;
  /** Appends a record to the log and stores it. */
  append(topic: Topic, record: LogRecord): Promise<void>;
  /** Resolves when all published messages are expanded and the push queues are empty. */
  idle(): Promise<void>;
  close(): Promise<void>;
}

/** The deliveries of a message, at most 1,000. */
export const deliveriesOf = (at: PushInstallation, messageId: string): Promise<Delivery[]> =>
  at.engine.deliveries.find(messageId, { limit: 1_000 });

/** The tokens to which the Expo simulator received pushes of a message, in the order of arrival. */
export const tokensOf = (at: PushInstallation, messageId: string): string[] =>
  at.expo.pushes.filter((push) => push.messageId === messageId).map((push) => push.token);

export function openPushInstallation(engines: TestEngines | undefined): Promise<PushInstallation> {
  return withClosers(async (own) => {
    let aheadMs = 0;
    const clock = (): number => Date.now() + aheadMs;
    const place = newTestPlace(engines);
    own.add(() => place.remove());
    const expo = await startExpoSimulator();
    own.add(() => expo.close());
    const engine = await openTestEngine(place, clock);
    own.add(() => engine.close());
    const { documents } = engine;
    const running = closers();
    own.add(() => running.closeAll());

    const addSubscriber = async (topic: Topic, given: SubscriberFields = {}): Promise<Subscriber> => {
      const user = await documents.insert(users, newUser(given.user));
      return {
        user,
        subscription: await documents.insert(subscriptions, newSubscription(user.id, topic.id, given.subscription)),
        device: await documents.insert(devices, newDevice(user.id, given.device)),
      };
    };
    const publishTo = async (topic: Topic, given: Partial<Message> = {}): Promise<Message> => {
      const message = newMessage(topic.id, { timestamp: clock(), expiresAt: clock() + 86_400_000, ...given });
      await publish(engine, topic, message);
      return message;
    };
    const installation: PushInstallation = {
      engine,
      expo,
      place,
      clock,
      addSubscriber,
      addSubscribers: async (topic, count) =>
        (
          await addSubscribers(
            documents,
            topic.id,
            Array.from({ length: count }, () => ({})),
          )
        ).map(({ pushToken }) => pushToken),
      setAhead: (ms) => void (aheadMs = ms),
      async start(limits = {}, given = {}) {
        const notifier = await startNotifier({
          engine,
          clock,
          limits: { badgeAgeMsMax: 600_000, ...limits },
          config: { ...place.config, EXPO_URL: expo.url },
          log: openLogger('test', place.config.LOG_LEVEL),
          makeId: idSource(clock),
          baseUrl: 'http://127.0.0.1',
          appUrl: 'http://127.0.0.1',
          ...given,
        });
        running.add(() => notifier.close());
        return notifier;
      },
      addTopic: (given) => documents.insert(topics, newTopic(newId(), given)),
      publish: publishTo,
      async append({ partition, name }, record) {
        const offset = await engine.eventLog.append(partition, record, name);
        await engine.messages.apply([{ partition, offset, record }]);
      },
      idle: () => waitUntilSettled(installation),
      close: () => own.closeAll(),
    };
    return installation;
  });
}

/** A last message in each queue and partition follows all earlier ones; then the queues become empty. */
async function waitUntilSettled(at: PushInstallation): Promise<void> {
  const last = await Promise.all(
    Array.from({ length: at.engine.eventLog.partitions }, (_, partition) => at.addTopic({ partition })),
  );
  const tokens = await Promise.all(last.map(async (topic) => (await at.addSubscriber(topic)).device.pushToken));
  for (const topic of last) await at.publish(topic, { priority: 1 });
  await eventually(() => tokens.every((token) => at.expo.pushes.some((push) => push.token === token)));
  await untilQueuesEmpty(at);
}

/** Waits until no push job is left. */
export async function untilQueuesEmpty({ engine }: PushInstallation): Promise<void> {
  await eventually(async () => {
    for (const queue of Object.values(pushQueues)) {
      const { waiting, delayed, active } = await engine.jobQueue.counts(queue);
      if (waiting + delayed + active > 0) return false;
    }
    return true;
  });
}
