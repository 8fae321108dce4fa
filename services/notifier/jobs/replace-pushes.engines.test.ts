import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { LogRecord } from '@tocsin/shared/domain/messages/log-record.ts';
import { deletionRecord, editRecord } from '@tocsin/shared/domain/messages/message-changes.ts';
import type { Message, StoredMessage } from '@tocsin/shared/domain/messages/message.ts';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import { devices } from '@tocsin/shared/collections/devices-collection.ts';
import { topics } from '@tocsin/shared/collections/topics.ts';
import { newDevice } from '@tocsin/shared/testing/builders.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { engineUnderTest, enginesUnderTest } from '@tocsin/shared/testing/test-engine.ts';
import { openPushInstallation, type PushInstallation } from '../push-installation.fixtures.ts';

describe(`edits and deletions on devices, ${engineUnderTest}`, () => {
  let at: PushInstallation;
  beforeEach(async () => {
    at = await openPushInstallation(enginesUnderTest());
  });
  afterEach(() => at.close());

  const change = async (topic: Topic, { id }: Message, make: (message: StoredMessage) => LogRecord): Promise<void> => {
    const record = make((await at.engine.messages.find(id))!);
    const offset = await at.engine.eventLog.append(topic.partition, record, topic.name);
    await at.engine.messages.apply([{ partition: topic.partition, offset, record }]);
  };
  const shownOn = (token: string) =>
    at.expo.pushes
      .filter((push) => push.token === token)
      .map(({ message: { title, body, sound, collapseId, data } }) => ({
        title,
        body,
        sound,
        collapseId,
        event: (data as { event?: string }).event,
      }));

  test('an edit replaces the notification once on each device, and a deletion withdraws it', async () => {
    const topic = await at.addTopic();
    const tokens = await at.addSubscribers(topic, 12);
    const { device } = await at.addSubscriber(topic, { subscription: { priorityThreshold: 5 } });
    await at.start({ firstPageSize: 2, pageSize: 5 });
    const message = await at.publish(topic, { title: 'Pump', message: 'is of', tags: ['a'] });
    await at.idle();
    await change(topic, message, (stored) => editRecord(stored, { message: 'is off' }, at.clock()));
    await at.idle();
    await change(topic, message, (stored) => deletionRecord(stored, at.clock()));
    await at.idle();
    const same = { sound: null, collapseId: message.id };
    for (const token of tokens) {
      expect(shownOn(token)).toEqual([
        { title: 'Pump', body: 'is of', sound: 'default', collapseId: message.id, event: undefined },
        { title: 'Pump', body: 'is off', ...same, event: 'message_edited' },
        { title: topic.name, body: 'This message was deleted', ...same, event: 'message_deleted' },
      ]);
    }
    expect(shownOn(device.pushToken)).toEqual([]);
    expect((await at.engine.deliveries.counts(message.id)).sent).toBe(12);
  });

  test('updates only devices that received the message, and sends the new text only to permitted readers', async () => {
    const topic = await at.addTopic({ accessLevel: 'private' });
    const owner = await at.addSubscriber(topic);
    const [left, later] = [await at.addSubscriber(topic), await at.addSubscriber(topic)];
    await at.engine.documents.update(topics, topic, { ownerId: owner.user.id, accessLevel: 'public' });
    await at.engine.documents.update(devices, later.device, { isActive: false });
    await at.start();
    const message = await at.publish(topic, { message: 'secret' });
    await at.idle();
    await at.engine.documents.update(topics, (await at.engine.documents.get(topics, topic.id))!, {
      accessLevel: 'private',
    });
    await at.engine.documents.insert(devices, newDevice(owner.user.id));
    await change(topic, message, (stored) => editRecord(stored, { message: 'more secret' }, at.clock()));
    await at.idle();
    expect(shownOn(owner.device.pushToken).map(({ body }) => body)).toEqual(['secret', 'more secret']);
    expect(shownOn(left.device.pushToken).map(({ body }) => body)).toEqual(['secret']);
    await change(topic, message, (stored) => deletionRecord(stored, at.clock()));
    await at.idle();
    expect(shownOn(left.device.pushToken).map(({ body }) => body)).toEqual(['secret', 'This message was deleted']);
    const bodies = at.expo.pushes
      .filter(({ messageId }) => messageId === message.id)
      .map(({ message: { body } }) => body);
    expect(bodies.filter((body) => body === 'more secret')).toHaveLength(1);
  });

  test('retries after temporary errors, and shows the later of two edits', async () => {
    const topic = await at.addTopic();
    const { device } = await at.addSubscriber(topic);
    at.expo.script(device.pushToken, { kind: 'ok' }, { kind: 'status', status: 503 }, { kind: 'ok' });
    await at.start({ backoffMs: 50 });
    const message = await at.publish(topic, { message: 'one' });
    await at.idle();
    await change(topic, message, (stored) => editRecord(stored, { message: 'two' }, at.clock()));
    await eventually(() => expect(shownOn(device.pushToken).at(-1)).toMatchObject({ body: 'two' }));
    await change(topic, message, (stored) => editRecord(stored, { message: 'three' }, at.clock()));
    await eventually(() => expect(shownOn(device.pushToken).at(-1)).toMatchObject({ body: 'three' }));
  });
});
