import { expect } from '@jest/globals';
import fc from 'fast-check';
import type { PlacedRecord } from '../../domain/messages/log-record.ts';
import { MessagesModel } from './messages-model.ts';
import { deleted, edited, newId, published, testMessage, testTime } from './messages.fixtures.ts';
import type { Messages } from '../../ports/messages/messages.ts';

const topicsMax = 2;
const messagesMax = 4;
/** The time between records of the generated log. The clock skew is less than half of the port's limit. */
const stepMs = 1_500;
const skew = fc.integer({ min: -4_900, max: 4_900 });

const event = fc.record({
  kind: fc.constantFrom('message', 'message', 'message', 'edit', 'deletion'),
  message: fc.nat(messagesMax - 1),
  skew,
  gap: fc.integer({ min: 1, max: 3 }),
});
/** Records applied together: which, in which order, how often, and by which call. */
const delivery = fc.record({ picks: fc.array(fc.nat(), { maxLength: 8 }), isReconcile: fc.boolean() });
const history = fc.record({
  events: fc.array(event, { minLength: 1, maxLength: 14 }),
  deliveries: fc.array(delivery, { maxLength: 8 }),
  /** Concurrently, like several nodes, instead of sequentially. */
  atOnce: fc.boolean(),
  lastOrder: fc.array(fc.nat(), { minLength: 14, maxLength: 14 }),
  pageSize: fc.integer({ min: 1, max: 4 }),
});

/**
 * Applies random records in random order, some repeatedly, by both calls, and compares every read with the model.
 * `nodes` share the store, which may contain other topics. Offsets from `firstOffset` must be free.
 */
export async function agreesWithModel(
  nodes: readonly Messages[],
  firstOffset: number,
  runs = Number(process.env.MODEL_RUNS ?? 100),
): Promise<void> {
  const messages = nodes[0]!;
  let offset = firstOffset;
  await fc.assert(
    fc.asyncProperty(history, async ({ events, deliveries, atOnce, lastOrder, pageSize }) => {
      const topicIds = Array.from({ length: topicsMax }, newId);
      const records = recordsOf(events, topicIds, offset);
      offset += 100;
      const shuffled = [...records]
        .map((record, index) => ({ record, key: lastOrder[index]! }))
        .sort((a, b) => a.key - b.key)
        .map(({ record }) => record);
      const calls = deliveries
        .map(({ picks, isReconcile }, turn) => async () => {
          const chosen = picks.map((pick) => records[pick % records.length]!);
          const node = nodes[turn % nodes.length]!;
          if (isReconcile) await node.reconcile(0, inOrder(chosen));
          else await node.apply(chosen);
        })
        .concat(() => messages.apply(shuffled));
      if (atOnce) await Promise.all(calls.map((call) => call()));
      else for (const call of calls) await call();
      const model = new MessagesModel(records);
      await compareSettled(messages, model, records, topicIds);
      for (const { id } of new Set(records.map(({ record }) => record.message)))
        expect(await messages.find(id)).toEqual(model.find(id));
      for (const topicId of topicIds) await compareTopic({ messages, model, topicId, pageSize });
      expect(await messages.topicStats(topicIds)).toEqual(
        new Map(topicIds.map((topicId) => [topicId, model.stats(topicId)])),
      );
    }),
    { numRuns: runs, endOnFailure: false },
  );
}

type Event = typeof event extends fc.Arbitrary<infer T> ? T : never;

function recordsOf(events: readonly Event[], topicIds: readonly string[], firstOffset: number): PlacedRecord[] {
  const times = events.map(({ skew: off }, turn) => testTime + turn * stepMs + off);
  // A duplicate is the same message with the same publish time.
  const drafts = Array.from({ length: messagesMax }, (_, index) => {
    const publishTurn = events.findIndex(({ kind, message }) => kind === 'message' && message === index);
    return testMessage(topicIds[index % topicIds.length]!, {
      message: `draft ${index}`,
      tags: ['a'],
      timestamp: times[publishTurn] ?? testTime,
    });
  });
  let offset = firstOffset;
  return events.map(({ kind, message: index, gap }, turn) => {
    offset += gap;
    const draft = drafts[index]!;
    const time = times[turn]!;
    if (kind === 'edit')
      return edited(offset, draft, {
        message: `edit ${turn}`,
        title: `${turn}`,
        tags: turn % 2 ? [] : ['b'],
        editedAt: time,
      });
    if (kind === 'deletion') return deleted(offset, draft, time);
    // A retry under one idempotency key can have another text and time.
    return published(offset, { ...draft, message: `draft ${index} ${turn}`, timestamp: time });
  });
}

const inOrder = (records: readonly PlacedRecord[]): PlacedRecord[] =>
  [...new Set(records)].sort((a, b) => a.offset - b.offset);

async function compareSettled(
  messages: Messages,
  model: MessagesModel,
  records: readonly PlacedRecord[],
  topicIds: readonly string[],
): Promise<void> {
  const reconciled = await messages.reconcile(0, records);
  for (const topicId of topicIds) {
    const ofTopic = reconciled.filter(({ record }) => record.message.topicId === topicId);
    expect(ofTopic.map(({ offset, previousOffset }) => ({ offset, previousOffset }))).toEqual(
      model.reconciled(topicId),
    );
  }
}

async function compareTopic(at: {
  messages: Messages;
  model: MessagesModel;
  topicId: string;
  pageSize: number;
}): Promise<void> {
  const { messages, model, topicId, pageSize: limit } = at;
  const now = testTime;
  const upTo = model.lastOffset(topicId);
  expect(await messages.newest(topicId, { limit: 100, now })).toEqual(model.history(topicId));
  expect(await messages.newest(topicId, { limit, now })).toEqual(model.history(topicId).slice(-limit));
  expect(await allPages(async (after) => messages.after(topicId, { after, upTo, limit, now }))).toEqual(
    model.history(topicId),
  );
  expect(await allPages(async (after) => messages.records(topicId, { from: after + 1, upTo, limit, now }))).toEqual(
    model.records(topicId),
  );
  expect(await messages.lastOffsets([topicId])).toEqual(new Map([[topicId, upTo]]));
  const newest = model.history(topicId).at(-1);
  expect(await messages.newestOfEach([topicId], now)).toEqual(new Map(newest === undefined ? [] : [[topicId, newest]]));
  for (const time of [testTime - 60_000, testTime, testTime + 7_500, testTime + 60_000]) {
    expect(await messages.offsetAtTime(topicId, time)).toBe(model.offsetAtTime(topicId, time));
  }
}

/** Reads pages from the last offset until one is empty. */
async function allPages<T extends { offset: number }>(read: (after: number) => Promise<T[]>): Promise<T[]> {
  const all: T[] = [];
  for (;;) {
    const page = await read(all.at(-1)?.offset ?? -1);
    if (page.length === 0) return all;
    all.push(...page);
  }
}
