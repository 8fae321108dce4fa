import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { topicChannel, type Envelope } from '@tocsin/shared/domain/messages/channels.ts';
import type { LogRecord } from '@tocsin/shared/domain/messages/log-record.ts';
import { deletionRecord, editRecord } from '@tocsin/shared/domain/messages/message-changes.ts';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import { closers, type Closers } from '@tocsin/shared/platform/lifecycle.ts';
import { openLogger } from '@tocsin/shared/platform/logger.ts';
import type { Engine } from '@tocsin/shared/ports/engine.ts';
import { topics } from '@tocsin/shared/collections/topics.ts';
import { newId, newMessage, newTopic } from '@tocsin/shared/testing/builders.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { engineUnderTest, openOwnEngine, publish } from '@tocsin/shared/testing/test-engine.ts';
import { startFanout } from './start-fanout.ts';

const log = openLogger('test', process.env['TEST_LOG_LEVEL'] ?? 'silent');

describe(`the fan-out, ${engineUnderTest}`, () => {
  let own: Closers;
  let engine: Engine;
  let topic: Topic;
  beforeEach(async () => {
    own = closers();
    ({ engine } = await openOwnEngine(own));
    topic = await engine.documents.insert(topics, newTopic(newId()));
  });
  afterEach(() => own.closeAll());

  /** Appends a record like a process that dies before it can store it. */
  const appendOnly = (record: LogRecord) => engine.eventLog.append(topic.partition, record, topic.name);
  const find = async (id: string) => (await engine.messages.find(id))!;
  const start = async () => {
    const fanOut = await startFanout({ engine, log, clock: Date.now });
    own.add(() => fanOut.close());
  };

  test('stores and delivers edits and deletions whose process died between the log and the store', async () => {
    const [edited, deleted, both] = [newMessage(topic.id), newMessage(topic.id), newMessage(topic.id)];
    for (const message of [edited, deleted, both]) await publish(engine, topic, message);
    const seen: Envelope[] = [];
    const subscribed = await engine.bus.subscribe(topicChannel(topic.id), (payload) =>
      seen.push(JSON.parse(payload) as Envelope),
    );
    own.add(() => subscribed.close());
    await start();
    const now = Date.now();
    const [one, two, three] = [await find(edited.id), await find(deleted.id), await find(both.id)];
    const offsets = [
      await appendOnly(editRecord(one, { message: 'edited' }, now)),
      await appendOnly(deletionRecord(two, now)),
      await appendOnly(editRecord(three, { title: 'edited' }, now)),
      await appendOnly(deletionRecord(three, now + 1)),
    ];
    await eventually(() => expect(seen.slice(-4).map(({ offset }) => offset)).toEqual(offsets));
    expect(await find(edited.id)).toMatchObject({ message: 'edited', isEdited: true, editedAt: now });
    expect(await find(deleted.id)).toMatchObject({ isDeleted: true, deletedAt: now });
    expect(await find(both.id)).toMatchObject({ title: 'edited', isDeleted: true, deletedAt: now + 1 });
    expect(seen.slice(-4).map(({ record: { type } }) => type)).toEqual([
      'message_edited',
      'message_deleted',
      'message_edited',
      'message_deleted',
    ]);
    expect((await engine.messages.topicStats([topic.id])).get(topic.id)?.messageCount).toBe(1);
  });
});
