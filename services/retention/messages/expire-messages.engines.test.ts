import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { tiers, type Tier } from '@tocsin/shared/domain/accounts/tiers.ts';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import { closers } from '@tocsin/shared/platform/lifecycle.ts';
import { toIso } from '@tocsin/shared/domain/to-iso.ts';
import { findAuditEntries } from '@tocsin/shared/operations/audit/find-audit-entries.ts';
import {
  confirmPlan,
  pauseRetention,
  requestRun,
  resumeRetention,
} from '@tocsin/shared/operations/retention/operate-retention.ts';
import { describePlan, planRetention } from '@tocsin/shared/operations/retention/retention-plan.ts';
import { settleConsumers } from '@tocsin/shared/operations/retention/settle-consumers.ts';
import { logConsumers } from '@tocsin/shared/collections/log-consumers.ts';
import {
  listRuns,
  readRetentionState,
  retentionRuns,
  retentionStates,
} from '@tocsin/shared/collections/retention-runs.ts';
import { topics } from '@tocsin/shared/collections/topics.ts';
import { users } from '@tocsin/shared/collections/users.ts';
import { newConsumer, newId, newMessage, newTopic, newUser, testAudit } from '@tocsin/shared/testing/builders.ts';
import { engineUnderTest, openOwnEngine } from '@tocsin/shared/testing/test-engine.ts';
import { toRunJson } from '@tocsin/shared/wire/retention.ts';
import { expireMessages } from './expire-messages.ts';
import { forgetRuns } from './forget-runs.fixtures.ts';
import type { RetentionDeps } from '../sweep/retention-deps.ts';
import { runRetentionJob } from '../run-retention-job.ts';
import { sweepDeps } from '../sweep/sweep-deps.fixtures.ts';

const hourMs = 3_600_000;
const own = closers();
afterAll(() => own.closeAll());
/** Stored messages have not expired yet; the tests' clock is an hour ahead. */
const { engine } = await openOwnEngine(own);

const { documents, messages } = engine;
const clock = (): number => Date.now() + hourMs;
const soon = () => Date.now() + hourMs / 2;
const later = () => Date.now() + 2 * hourMs;
const openJobQueue = async () => engine.jobQueue;
/** The batch size of a sweep. */
const batchSize = 100;

let offset = 0;
async function makeTopic(tier: Tier, given: Partial<Topic> = {}): Promise<Topic> {
  const owner = await documents.insert(users, newUser({ tier }));
  return documents.insert(topics, newTopic(owner.id, { partition: 0, ...given }));
}
/** Stores messages of the topic with these expiries. */
async function store(topic: Topic, expiries: readonly number[], text = 'Disk is full'): Promise<void> {
  const records = expiries.map((expiresAt) => {
    const message = newMessage(topic.id, { expiresAt, message: text });
    return {
      partition: topic.partition,
      offset: (offset += 1),
      record: { type: 'message' as const, timestamp: message.timestamp, message },
    };
  });
  for (let at = 0; at < records.length; at += 5_000) await messages.apply(records.slice(at, at + 5_000));
}
const times = (count: number, expiresAt: number): number[] => Array.from({ length: count }, () => expiresAt);
const countOf = async (topic: Topic): Promise<number> =>
  (await messages.topicStats([topic.id])).get(topic.id)!.messageCount;
const sweep = (deps: RetentionDeps = sweepDeps(engine, clock), endsAt = Infinity) =>
  expireMessages(deps, { endsAt, closing: new AbortController().signal });
/** A row of the fault matrix. */
const print = (row: string, figures: object) =>
  process.stdout.write(`${JSON.stringify({ row, engine: engineUnderTest, ...figures })}\n`);
const lastRun = async () => (await listRuns(documents, 1))[0]!;

describe(`removal of expired messages by plan, ${engineUnderTest}`, () => {
  beforeEach(async () => {
    await forgetRuns(engine, clock());
  });

  test('counts what a consumer loses before it is removed, and names the consumer in plan and report', async () => {
    const topic = await makeTopic('FREE');
    const first = offset + 1;
    await store(topic, [soon(), soon(), later(), soon()]);
    const consumers = [first + 1, first + 4].map((position, index) =>
      newConsumer({ topicId: topic.id, name: `Reader ${index}`, offset: position }),
    );
    for (const consumer of consumers) await documents.insert(logConsumers, consumer);
    const behind = { topic_id: topic.id, topic: topic.name, consumer: 'Reader 0', unread: 2 };
    const plan = await describePlan(engine, { upTo: clock(), now: clock(), limit: 1, isSet: false });
    expect(plan.consumers_behind).toEqual([behind]);
    expect(await sweep()).toMatchObject({ removed: 3 });
    expect(toRunJson(await lastRun()).consumers_behind).toEqual([behind]);
    const lostOf = async (at: number) => (await documents.get(logConsumers, consumers[at]!.id))!.lost;
    expect([await lostOf(0), await lostOf(1)]).toEqual([2, null]);
    // The same records are not counted again.
    await settleConsumers(engine, topic.id, clock());
    expect(await lostOf(0)).toBe(2);
    expect(await messages.lastLost(topic.id, { from: 0, before: first + 9, now: 0 })).toBe(first + 3);
  });

  test('removes exactly the messages in the plan, by topic and by tier', async () => {
    const ofTopic = fc.record({
      tier: fc.constantFrom(...tiers),
      isHeld: fc.boolean(),
      expired: fc.integer({ min: 0, max: 30 }),
      kept: fc.nat(4),
      text: fc.constantFrom('a', 'über', '😀 much'),
    });
    const figures = { plans: 0, planned: 0 };
    await fc.assert(
      fc.asyncProperty(fc.array(ofTopic, { minLength: 1, maxLength: 5 }), async (given) => {
        const made = await Promise.all(
          given.map(async (of) => ({ ...of, topic: await makeTopic(of.tier, { isHeld: of.isHeld }) })),
        );
        for (const { topic, expired, kept, text } of made)
          await store(topic, [...times(expired, soon()), ...times(kept, later())], text);
        const plan = await planRetention(engine, { upTo: clock(), now: clock(), protects: false });
        const going = made.filter(({ isHeld, expired }) => !isHeld && expired > 0);
        const volumeOf = (some: typeof made) => ({
          messages: some.reduce((sum, { expired }) => sum + expired, 0),
          bytes: some.reduce((sum, { expired, text }) => sum + expired * Buffer.byteLength(text), 0),
        });
        expect(plan).toMatchObject(volumeOf(going));
        expect(plan.held).toEqual(volumeOf(made.filter(({ isHeld }) => isHeld)));
        expect(plan.tiers.map(({ ofMessages: _, ...tier }) => tier)).toEqual(
          tiers
            .map((tier) => ({ tier, ...volumeOf(going.filter((one) => one.tier === tier)) }))
            .filter((one) => one.messages > 0),
        );
        expect(await sweep()).toEqual({ removed: plan.messages, hasMore: false });
        figures.plans += 1;
        figures.planned += plan.messages;
        if (plan.messages > 0) {
          const {
            planned,
            removed,
            tiers: removedOfTiers,
            topics: removedOfTopics,
            ...run
          } = toRunJson(await lastRun());
          expect(run).toMatchObject({ started_by: 'schedule', outcome: 'done', interruptions: 0 });
          expect([planned, removed]).toEqual([volumeOf(going), volumeOf(going)]);
          expect(removedOfTiers).toEqual(plan.tiers.map(({ ofMessages: _, ...tier }) => tier));
          expect(removedOfTopics).toEqual(
            plan.topics
              .filter(({ isHeld }) => !isHeld)
              .map(({ topicId, name, tier, messages: count, bytes }) => ({
                topic_id: topicId,
                topic: name,
                tier,
                messages: count,
                bytes,
              })),
          );
        }
        for (const { topic, isHeld, expired, kept } of made)
          expect(await countOf(topic)).toBe(isHeld ? expired + kept : kept);
        // Holds end before the next round.
        for (const { topic } of made) await messages.removeTopic(topic.id, 1_000);
      }),
      { numRuns: 8, endOnFailure: true },
    );
    print('T4', { test: 'a plan and its run', ...figures, plannedMinusDeleted: 0 });
  });

  test('a plan of more than ten thousand messages and a fifth of a tier waits for confirmation', async () => {
    const topic = await makeTopic('TEAM');
    const other = await makeTopic('FREE');
    await store(topic, [...times(10_001, soon()), later()]);
    await store(other, [soon()]);
    expect(await sweep()).toEqual({ removed: 0, hasMore: false });
    const { waiting } = await readRetentionState(documents);
    expect(waiting).toMatchObject({
      messages: 10_002,
      tiers: [
        { tier: 'FREE', messages: 1 },
        { tier: 'TEAM', messages: 10_001, ofMessages: 10_002 },
      ],
    });
    expect(await lastRun()).toMatchObject({ outcome: 'waiting', messages: 0, planned: { messages: 10_002 } });
    expect(await sweep()).toEqual({ removed: 0, hasMore: false });
    expect(await listRuns(documents, 10)).toHaveLength(1);

    const confirm = (upTo: number) =>
      confirmPlan({ documents, openJobQueue }, { id: newId(), upTo, startedBy: 'api' }, testAudit);
    await expect(confirm(waiting!.upTo + 1)).rejects.toMatchObject({ code: 'conflict' });
    await confirm(waiting!.upTo);
    expect((await findAuditEntries(documents, {}, 1)).entries).toMatchObject([
      { entry: { action: 'retention.plan_confirmed', details: { up_to: toIso(waiting!.upTo) } } },
    ]);
    await expect(confirm(waiting!.upTo)).rejects.toMatchObject({ code: 'conflict' });
    expect(await sweep()).toEqual({ removed: 10_002, hasMore: false });
    expect(await lastRun()).toMatchObject({ outcome: 'done', messages: 10_002, upTo: waiting!.upTo });
    expect([await countOf(topic), await countOf(other)]).toEqual([1, 0]);
    expect(await readRetentionState(documents)).toMatchObject({ waiting: null, confirmedUpTo: null, runId: null });
  });

  test('a pause stops the removal, including a current run, which resumes afterwards', async () => {
    const topic = await makeTopic('FREE');
    await store(topic, times(batchSize + 150, soon()));
    // After the first batch.
    const pausing = {
      ...sweepDeps(engine, clock),
      throttle: { rest: () => pauseRetention(documents, { now: clock(), reason: 'r' }, testAudit).then(() => 0) },
    };
    expect(await sweep(pausing)).toEqual({ removed: batchSize, hasMore: true });
    expect(await sweep()).toEqual({ removed: 0, hasMore: false });
    await expect(
      requestRun({ documents, openJobQueue }, { id: newId(), upTo: clock(), startedBy: 'api' }, testAudit),
    ).rejects.toMatchObject({ message: 'Retention is paused: resume it first' });
    expect(await countOf(topic)).toBe(150);
    await resumeRetention(documents, testAudit);
    await expect(
      requestRun({ documents, openJobQueue }, { id: newId(), upTo: clock(), startedBy: 'api' }, testAudit),
    ).rejects.toMatchObject({ message: 'A run is under way: see the history' });
    expect(await sweep()).toEqual({ removed: 150, hasMore: false });
    expect(await lastRun()).toMatchObject({
      outcome: 'done',
      messages: batchSize + 150,
      planned: { messages: batchSize + 150 },
      interruptions: 0,
    });
    const { entries } = await findAuditEntries(documents, {}, 2);
    expect(entries.map(({ entry }) => entry.action)).toEqual(['retention.resumed', 'retention.paused']);
  });

  test('takes over the run of a dead worker, but not of a live one', async () => {
    const topic = await makeTopic('FREE');
    await store(topic, times(batchSize + 50, soon()));
    const dying = { ...sweepDeps(engine, clock), throttle: { rest: () => Promise.reject(new Error('killed')) } };
    await expect(sweep(dying)).rejects.toThrow('killed');
    expect(await sweep()).toEqual({ removed: 0, hasMore: false });
    expect(await sweep(sweepDeps(engine, () => clock() + 5_000))).toEqual({ removed: 50, hasMore: false });
    expect(await lastRun()).toMatchObject({ outcome: 'done', messages: batchSize + 50, interruptions: 1 });
  });

  test('a worker that stalled beyond its lease does not write to a run that another worker completed', async () => {
    const topic = await makeTopic('FREE');
    await store(topic, [...times(batchSize + 150, soon()), later()]);
    const [stands, goesOn] = [Promise.withResolvers<void>(), Promise.withResolvers<number>()];
    const standing = {
      ...sweepDeps(engine, clock),
      throttle: {
        rest: () => {
          stands.resolve();
          return goesOn.promise;
        },
      },
    };
    const stopped = sweep(standing);
    await stands.promise;
    expect(await sweep()).toEqual({ removed: 0, hasMore: false }); // within the lease it belongs to its worker
    expect(await sweep(sweepDeps(engine, () => clock() + 5_000))).toEqual({ removed: 150, hasMore: false });
    const ended = await lastRun();
    goesOn.resolve(0);
    expect(await stopped).toEqual({ removed: batchSize, hasMore: true });
    const runs = await listRuns(documents, 10);
    expect(runs).toEqual([ended]);
    expect(ended).toMatchObject({ outcome: 'done', messages: batchSize + 150, interruptions: 1 });
    expect(await countOf(topic)).toBe(1);
    print('T2', {
      test: 'a lost lease',
      runs: runs.length,
      writesByTheFencedOne: 0,
      countDrift: (await countOf(topic)) - 1,
    });
  });

  test('the end of a run keeps the next run, which another worker began meanwhile', async () => {
    await store(await makeTopic('FREE'), times(1, soon()));
    const next = newId();
    /** Another worker notices the end of the run and begins the next one, before this worker has updated the state. */
    const update: typeof documents.update = async (collection, at, set) => {
      const updated = await documents.update(collection, at, set);
      if ('outcome' in set && set.outcome === 'done')
        await documents.update(retentionStates, await readRetentionState(documents), { runId: next });
      return updated;
    };
    const slow = { ...engine, documents: { ...documents, update } };
    expect(await sweep(sweepDeps(slow, clock))).toEqual({ removed: 1, hasMore: false });
    expect((await readRetentionState(documents)).runId).toBe(next);
  });

  test('a requested run removes messages that expired by its time, or reports an empty run', async () => {
    const topic = await makeTopic('FREE');
    const [early, late] = [Date.now() + 60_000, soon()];
    await store(topic, [...times(3, early), ...times(4, late)]);
    const deps = { ...sweepDeps(engine, clock), running: new Set<string>(), closing: new AbortController().signal };
    const run = async (upTo: number) => {
      const request = { id: newId(), upTo, startedBy: 'command' as const };
      await runRetentionJob(deps, { id: newId(), data: { kind: 'expire-messages', ...request }, attempt: 1 });
      return documents.get(retentionRuns, request.id);
    };
    expect(await run(early)).toMatchObject({ startedBy: 'command', upTo: early, outcome: 'done', messages: 3 });
    expect(await countOf(topic)).toBe(4);
    expect(await run(early)).toMatchObject({ outcome: 'done', messages: 0, planned: { messages: 0 } });
  });

  test('a cluster has its own clock; the embedded store uses that of its process', async () => {
    const { time } = engine.storage;
    if (engineUnderTest === 'embedded') expect(time).toBeUndefined();
    else expect(Math.abs((await time!()) - Date.now())).toBeLessThan(60_000);
  });

  test('runs no sweep while the clocks of process and store differ by more than a minute', async () => {
    const topic = await makeTopic('FREE');
    await store(topic, [soon()]);
    const job = { id: newId(), data: { kind: 'sweep', name: 'expire-messages' }, attempt: 1 };
    const sweepWith = async (aheadMs: number) => {
      const deps = {
        ...sweepDeps(engine, clock),
        running: new Set<string>(),
        closing: new AbortController().signal,
        storeTime: async () => clock() + aheadMs,
      };
      await runRetentionJob(deps, job);
      return (await deps.metrics.runs.get()).values.map(({ labels }) => labels.outcome);
    };
    const jumps = [61_000, -61_000, hourMs, -hourMs, 24 * hourMs, -24 * hourMs];
    for (const aheadMs of jumps) expect(await sweepWith(aheadMs)).toEqual(['clock']);
    expect(await countOf(topic)).toBe(1);
    print('T3', { test: 'a clock jumps', jumpsMs: jumps, prematureDeletes: 1 - (await countOf(topic)) });
    expect(await sweepWith(-59_000)).toEqual(['done']);
    expect(await countOf(topic)).toBe(0);
  });
});
