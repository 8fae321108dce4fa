import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { closers } from '@tocsin/shared/platform/lifecycle.ts';
import { logConsumers } from '@tocsin/shared/collections/log-consumers.ts';
import { listRuns, readRetentionState } from '@tocsin/shared/collections/retention-runs.ts';
import { topics } from '@tocsin/shared/collections/topics.ts';
import type { LogConsumer } from '@tocsin/shared/domain/log/log-consumer.ts';
import { protectedMs } from '@tocsin/shared/domain/retention/protection.ts';
import { requestRun } from '@tocsin/shared/operations/retention/operate-retention.ts';
import { describePlan } from '@tocsin/shared/operations/retention/retention-plan.ts';
import { newConsumer, newId, newMessage, newTopic, testAudit } from '@tocsin/shared/testing/builders.ts';
import { engineUnderTest, openOwnEngine } from '@tocsin/shared/testing/test-engine.ts';
import { toRunJson } from '@tocsin/shared/wire/retention.ts';
import { sweepDeps } from '../sweep/sweep-deps.fixtures.ts';
import { expireMessages } from './expire-messages.ts';
import { forgetRuns } from './forget-runs.fixtures.ts';

const hourMs = 3_600_000;
const own = closers();
afterAll(() => own.closeAll());
let aheadMs = 0;
const clock = (): number => Date.now() + aheadMs;
const { engine } = await openOwnEngine(own, clock);
const { documents, messages } = engine;

/** The next offset of the log. */
let next = 1;

/** Stores a topic with messages of these lifetimes; resolves with the offset of the first. */
async function makeTopic(...lifetimesMs: readonly number[]): Promise<{ topicId: string; first: number }> {
  const { id: topicId } = await documents.insert(topics, newTopic(newId(), { partition: 0 }));
  const first = next;
  await messages.apply(
    lifetimesMs.map((lifetimeMs) => {
      const message = newMessage(topicId, { expiresAt: clock() + lifetimeMs });
      return { partition: 0, offset: next++, record: { type: 'message', timestamp: message.timestamp, message } };
    }),
  );
  return { topicId, first };
}

const addConsumer = (topicId: string, offset: number, name = 'reader'): Promise<LogConsumer> =>
  documents.insert(logConsumers, newConsumer({ topicId, name, offset }, { updatedAt: clock() }));

const sweep = (isSet: boolean) =>
  expireMessages(
    {
      ...sweepDeps(engine, clock),
      config: { RATE_LIMITS: true, ARCHIVE_DEFAULT: true, RETENTION_PROTECT_CONSUMERS: isSet },
    },
    { endsAt: Infinity, closing: new AbortController().signal },
  );
const removedBy = async (isSet: boolean) => (await sweep(isSet)).removed;
const lostOf = async ({ id }: LogConsumer) => (await documents.get(logConsumers, id))!.lost;

describe(`protection of consumers, ${engineUnderTest}`, () => {
  beforeEach(async () => {
    aheadMs += 3 * protectedMs;
    await forgetRuns(engine, clock());
  });

  test('keeps unread records until the consumer has read them, and starts no run for them', async () => {
    const { topicId, first } = await makeTopic(hourMs, hourMs, 9 * protectedMs);
    const other = await makeTopic(hourMs);
    const consumer = await addConsumer(topicId, first + 1);
    await addConsumer(other.topicId, other.first + 1);
    aheadMs += 2 * hourMs;
    expect(await describePlan(engine, { upTo: clock(), now: clock(), limit: 10, isSet: true })).toMatchObject({
      ...{ messages: 1, topic_count: 1, topics: [{ topic_id: other.topicId }], consumers_behind: [] },
    });
    expect(await removedBy(true)).toBe(1);
    expect(await removedBy(true)).toBe(0);
    expect(await listRuns(documents, 10)).toMatchObject([{ messages: 1, planned: { messages: 1 } }]);
    expect(await lostOf(consumer)).toBeNull();
    await documents.update(logConsumers, consumer, {
      offset: first + 2,
      updatedAt: clock(),
      placedAt: consumer.updatedAt,
    });
    expect(await removedBy(true)).toBe(2);
  });

  test('ends 7 days after the expiry, and the consumer loses what it has not read', async () => {
    const { topicId, first } = await makeTopic(hourMs, 3 * hourMs);
    const consumer = await addConsumer(topicId, first);
    aheadMs += protectedMs;
    expect(await removedBy(true)).toBe(0);
    aheadMs += 2 * hourMs;
    expect(await removedBy(true)).toBe(1);
    expect(await lostOf(consumer)).toBe(1);
    const [run] = await listRuns(documents, 1);
    expect(toRunJson(run!).consumers_behind).toMatchObject([{ topic_id: topicId, consumer: 'reader', unread: 1 }]);
    aheadMs += 2 * hourMs;
    expect(await removedBy(true)).toBe(1);
    expect(await lostOf(consumer)).toBe(2);
  });

  test('does not include what had expired before a consumer was created or moved back', async () => {
    const { topicId, first } = await makeTopic(hourMs);
    aheadMs += 2 * hourMs;
    await addConsumer(topicId, first);
    expect(await removedBy(true)).toBe(1);
  });

  test('removes everything without the setting', async () => {
    const { topicId, first } = await makeTopic(hourMs, hourMs);
    const consumer = await addConsumer(topicId, first);
    aheadMs += 2 * hourMs;
    expect(await removedBy(false)).toBe(2);
    expect(await lostOf(consumer)).toBe(2);
  });

  test('applies to all runs for 7 days after an operator has requested a run with it', async () => {
    const { topicId, first } = await makeTopic(hourMs, 2 * protectedMs);
    const consumer = await addConsumer(topicId, first);
    aheadMs += 2 * hourMs;
    const request = { id: newId(), upTo: clock(), startedBy: 'api' } as const;
    await requestRun({ documents, openJobQueue: async () => engine.jobQueue }, request, testAudit, clock());
    expect((await readRetentionState(documents)).protectedUntil).toBeGreaterThan(clock() + protectedMs - hourMs);
    expect(await removedBy(false)).toBe(0);
    aheadMs += protectedMs - 2 * hourMs;
    expect(await removedBy(false)).toBe(0);
    aheadMs += 3 * hourMs;
    expect(await removedBy(false)).toBe(1);
    expect(await lostOf(consumer)).toBe(1);
  });
});
