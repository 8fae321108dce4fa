import { expect, test } from '@jest/globals';
import { topics } from '@tocsin/shared/collections/topics.ts';
import { newId, newTopic } from '@tocsin/shared/testing/builders.ts';
import { useTestEngine } from '@tocsin/shared/testing/use-test-engine.ts';
import { reconcileCounts } from './reconcile-counts.ts';
import { withMethods, sweepDeps } from './sweep/sweep-deps.fixtures.ts';

const engine = await useTestEngine();
const dayMs = 86_400_000;

test('recounts every topic once a day, and resumes an interrupted run', async () => {
  const ids: string[] = [];
  for (let n = 0; n < 12; n++) ids.push((await engine.documents.insert(topics, newTopic(newId()))).id);
  let now = Date.now();
  let counted: string[] = [];
  let cutOffAfter = Infinity;
  let closing = new AbortController();
  const recount = async (topicId: string) => {
    counted.push(topicId);
    if (counted.length === cutOffAfter) closing.abort();
    return topicId === ids[3] ? 2 : 0;
  };
  const run = () =>
    reconcileCounts(
      sweepDeps(engine, () => now, { messages: withMethods(engine.messages, { recount }) }),
      { endsAt: Infinity, closing: closing.signal },
    );

  expect(await run()).toEqual({ removed: 0, hasMore: false });
  expect(counted).toEqual([]);
  now += dayMs;
  expect(await run()).toEqual({ removed: 1, hasMore: false });
  expect(counted.toSorted()).toEqual(ids.toSorted());
  now += dayMs - 1;
  expect(await run()).toEqual({ removed: 0, hasMore: false });
  expect(counted).toHaveLength(12);

  now += 1;
  counted = [];
  cutOffAfter = 5;
  expect((await run()).hasMore).toBe(true);
  expect(counted).toHaveLength(5);
  closing = new AbortController();
  expect((await run()).hasMore).toBe(false);
  // The last topic is counted again.
  expect([counted.length, new Set(counted).size]).toEqual([13, 12]);
});
