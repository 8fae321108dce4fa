import { afterAll, describe, expect, test } from '@jest/globals';
import type { Message } from '@tocsin/shared/domain/messages/message.ts';
import { topics } from '@tocsin/shared/collections/topics.ts';
import { repairHistory } from '@tocsin/shared/operations/messages/repair-history.ts';
import { closers } from '@tocsin/shared/platform/lifecycle.ts';
import { newId, newMessage, newTopic } from '@tocsin/shared/testing/builders.ts';
import { engineUnderTest, openOwnEngine } from '@tocsin/shared/testing/test-engine.ts';

const own = closers();
afterAll(() => own.closeAll());
const { engine } = await openOwnEngine(own);

describe(`the repair of history, ${engineUnderTest}`, () => {
  test('stores messages below the watermark that history lacks, and none of deleted topics', async () => {
    const topic = await engine.documents.insert(topics, newTopic(newId(), { partition: 0 }));
    const deleted = newTopic(newId(), { partition: 0 });
    const now = Date.now();
    const append = async (message: Message, isStored: boolean) => {
      const record = { type: 'message' as const, timestamp: message.timestamp, message };
      const offset = await engine.eventLog.append(0, record, topic.name);
      const placed = { partition: 0, offset, record };
      if (isStored) await engine.messages.apply([placed]);
      return { placed, message };
    };
    const stored = await append(newMessage(topic.id), true);
    const lost = [await append(newMessage(topic.id), false), await append(newMessage(topic.id), false)];
    const ofDeleted = await append(newMessage(deleted.id), false);
    const expired = await append(newMessage(topic.id, { timestamp: now - 9_000, expiresAt: now - 1 }), false);
    const last = await append(newMessage(topic.id), true);
    await engine.messages.moveWatermark(0, last.placed.offset);
    const above = await append(newMessage(topic.id), false);

    const find = async ({ message }: { message: Message }) => (await engine.messages.find(message.id)) !== null;
    const repair = async (isDryRun: boolean) => {
      const progress: number[] = [];
      const result = await repairHistory(
        { ...engine, clock: Date.now },
        { isDryRun, onProgress: ({ compared }) => progress.push(compared) },
      );
      expect(progress.at(-1)).toBe(result.compared);
      return result.missing;
    };
    // The embedded log is the table of history, so it lacks nothing.
    const isCluster = engineUnderTest === 'cluster';
    expect(await repair(true)).toBe(isCluster ? 2 : 0);
    expect(await find(lost[0]!)).toBe(!isCluster);
    expect(await repair(false)).toBe(isCluster ? 2 : 0);
    expect(await Promise.all([stored, ...lost, last].map(find))).toEqual([true, true, true, true]);
    expect(await repair(false)).toBe(0);
    if (!isCluster) return;
    expect(await Promise.all([ofDeleted, expired, above].map(find))).toEqual([false, false, false]);
    const history = await engine.messages.newest(topic.id, { limit: 10, now });
    expect(history.map(({ offset }) => offset)).toEqual([stored, ...lost, last].map(({ placed }) => placed.offset));
  }, 60_000);
});
