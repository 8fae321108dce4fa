import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { LogRecord } from '@tocsin/shared/domain/messages/log-record.ts';
import type { Message } from '@tocsin/shared/domain/messages/message.ts';
import { deletionRecord, editRecord } from '@tocsin/shared/domain/messages/message-changes.ts';
import { topics } from '@tocsin/shared/collections/topics.ts';
import { repairHistory } from '@tocsin/shared/operations/messages/repair-history.ts';
import { closers, type Closers } from '@tocsin/shared/platform/lifecycle.ts';
import type { Engine } from '@tocsin/shared/ports/engine.ts';
import { newId, newMessage, newTopic } from '@tocsin/shared/testing/builders.ts';
import { engineUnderTest, openOwnEngine, openTestEngine, type TestPlace } from '@tocsin/shared/testing/test-engine.ts';

let own: Closers;
let engine: Engine;
let place: TestPlace;
beforeEach(async () => {
  own = closers();
  ({ engine, place } = await openOwnEngine(own));
});
afterEach(() => own.closeAll());

// The embedded log is the table of history, so that history lacks nothing.
const isCluster = engineUnderTest === 'cluster';

const record = (message: Message): LogRecord => ({ type: 'message', timestamp: message.timestamp, message });
const find = (message: Message) => engine.messages.find(message.id);

/** Appends a record like a process that dies before it can store it, or stores it as well. Resolves with its offset. */
async function append(of: LogRecord, { isStored }: { isStored: boolean }): Promise<number> {
  const offset = await engine.eventLog.append(0, of, 'alarms');
  if (isStored) await engine.messages.apply([{ partition: 0, offset, record: of }]);
  return offset;
}

/** Passes the stored record like a fan-out, which ends afterwards. On a cluster, topics are then counted up to it. */
async function fanOut(message: Message, offset: number): Promise<void> {
  const fanOutEngine = isCluster ? await openTestEngine(place) : engine;
  await fanOutEngine.messages.reconcile(0, [{ partition: 0, offset, record: record(message) }]);
  await fanOutEngine.messages.moveWatermark(0, offset);
  if (isCluster) await fanOutEngine.close();
}

/** Resolves with the number of missing records. */
async function repair({ isDryRun }: { isDryRun: boolean }): Promise<number> {
  const progress: number[] = [];
  const { compared, missing } = await repairHistory(
    { ...engine, clock: Date.now },
    { isDryRun, onProgress: (sum) => progress.push(sum.compared) },
  );
  expect(progress.at(-1)).toBe(compared);
  return missing;
}

describe(`the repair of history, ${engineUnderTest}`, () => {
  test('stores messages below the watermark that history lacks, and none of deleted topics', async () => {
    const topic = await engine.documents.insert(topics, newTopic(newId(), { partition: 0 }));
    const deleted = newTopic(newId(), { partition: 0 });
    const now = Date.now();
    const [stored, ...lost] = [newMessage(topic.id), newMessage(topic.id), newMessage(topic.id)] as const;
    const ofDeleted = newMessage(deleted.id);
    const expired = newMessage(topic.id, { timestamp: now - 9_000, expiresAt: now - 1 });
    const [last, above] = [newMessage(topic.id), newMessage(topic.id)];
    const offsets = [await append(record(stored), { isStored: true })];
    for (const message of lost) offsets.push(await append(record(message), { isStored: false }));
    for (const message of [lost[0], ofDeleted, expired]) await append(record(message), { isStored: false });
    offsets.push(await append(record(last), { isStored: true }));
    await fanOut(last, offsets.at(-1)!);
    await append(record(above), { isStored: false });

    expect(await repair({ isDryRun: true })).toBe(isCluster ? 2 : 0);
    expect(await find(lost[0])).toEqual(isCluster ? null : expect.anything());
    expect(await repair({ isDryRun: false })).toBe(isCluster ? 2 : 0);
    const history = await engine.messages.newest(topic.id, { limit: 10, now });
    if (isCluster) expect(history.map(({ offset }) => offset)).toEqual(offsets);
    expect(await Promise.all([stored, ...lost, last].map(find))).not.toContain(null);
    const { messageCount } = (await engine.messages.topicStats([topic.id])).get(topic.id)!;
    if (isCluster) expect(messageCount).toBe(offsets.length);
    expect(await repair({ isDryRun: false })).toBe(0);
    if (isCluster) expect(await Promise.all([ofDeleted, expired, above].map(find))).toEqual([null, null, null]);
  });

  test('stores edits and deletions that history lacks', async () => {
    const topic = await engine.documents.insert(topics, newTopic(newId(), { partition: 0 }));
    const [edited, deleted, kept] = [newMessage(topic.id), newMessage(topic.id), newMessage(topic.id)];
    for (const message of [edited, deleted, kept]) await append(record(message), { isStored: true });
    const now = Date.now();
    const current = async (message: Message) => (await find(message))!;
    await append(editRecord(await current(kept), { message: 'kept' }, now), { isStored: true });
    await append(editRecord(await current(edited), { message: 'edited' }, now), { isStored: false });
    const end = await append(deletionRecord(await current(deleted), now), { isStored: false });
    await engine.messages.moveWatermark(0, end);

    expect(await repair({ isDryRun: true })).toBe(isCluster ? 2 : 0);
    expect((await current(edited)).isEdited).toBe(!isCluster);
    expect(await repair({ isDryRun: false })).toBe(isCluster ? 2 : 0);
    expect(await Promise.all([edited, deleted, kept].map(find))).toMatchObject([
      { message: 'edited', isEdited: true, isDeleted: false },
      { isDeleted: true, deletedAt: now },
      { message: 'kept', isEdited: true, isDeleted: false },
    ]);
    expect((await engine.messages.topicStats([topic.id])).get(topic.id)?.messageCount).toBe(2);
    expect(await repair({ isDryRun: false })).toBe(0);
  });
});
