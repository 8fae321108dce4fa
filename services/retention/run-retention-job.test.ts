import { expect, test } from '@jest/globals';
import type { Deliveries } from '@tocsin/shared/ports/deliveries.ts';
import { RetryLater } from '@tocsin/shared/ports/job-queue.ts';
import { useTestEngine } from '@tocsin/shared/testing/use-test-engine.ts';
import { runRetentionJob } from './run-retention-job.ts';
import { sweepDeps, withMethods } from './sweep/sweep-deps.fixtures.ts';

const engine = await useTestEngine();
const job = { id: 'slot', attempt: 1, data: { kind: 'sweep', name: 'prune-deliveries' } };

/** Dependencies with a ledger whose removal is replaced, and a clock that advances in each pause. */
function depsWith(removeBefore: Deliveries['removeBefore']) {
  let now = 1_800_000_000_000;
  return {
    ...sweepDeps(engine, () => now, { deliveries: withMethods(engine.deliveries, { removeBefore }) }),
    throttle: { rest: async () => (now += 1_000) },
    running: new Set<string>(),
    closing: new AbortController().signal,
  };
}

test('a sweep of the ledger continues after its time limit, so that a daily schedule leaves no backlog', async () => {
  let rows = 20_000;
  const deps = depsWith(async (_time, limit) => {
    const removed = Math.min(rows, limit);
    rows -= removed;
    return removed;
  });
  await expect(runRetentionJob(deps, job)).rejects.toThrow(RetryLater);
  expect(rows).toBe(5_000);
  await runRetentionJob(deps, job);
  expect(rows).toBe(0);
});

test('skips a slot while the sweep of an earlier one runs, and runs the next one', async () => {
  const removing = Promise.withResolvers<number>();
  let calls = 0;
  const deps = depsWith(() => {
    calls += 1;
    return removing.promise;
  });
  const first = runRetentionJob(deps, job);
  await runRetentionJob(deps, { ...job, id: 'next-slot' });
  expect(calls).toBe(1);
  removing.resolve(0);
  await first;
  await runRetentionJob(deps, { ...job, id: 'third-slot' });
  expect(calls).toBe(2);
});
