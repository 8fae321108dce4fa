import { beforeEach, expect, test } from '@jest/globals';
import { ledgerMs, type Deliveries } from '@tocsin/shared/ports/deliveries.ts';
import { newClaim, newId } from '@tocsin/shared/testing/builders.ts';
import { useTestEngine } from '@tocsin/shared/testing/use-test-engine.ts';
import { sweepDeps, withMethods } from '../sweep/sweep-deps.fixtures.ts';
import { pruneDeliveries } from './prune-deliveries.ts';

const engine = await useTestEngine();
const now = 1_800_000_000_000;
const rows = 1_700;
const messageId = newId();

beforeEach(async () => {
  const claims = Array.from({ length: rows }, () => newClaim(messageId));
  for (let at = 0; at < rows; at += 100)
    await engine.deliveries.claim(claims.slice(at, at + 100), { now: now - ledgerMs - 1, staleAfterMs: 1 });
});

test('removes rows in small batches and rests after each of them for as long as publishes need', async () => {
  const steps: string[] = [];
  const removeBefore: Deliveries['removeBefore'] = async (time, limit) => {
    expect(limit).toBeLessThanOrEqual(500);
    const removed = await engine.deliveries.removeBefore(time, limit);
    steps.push(`removed ${removed}`);
    return removed;
  };
  const deps = {
    ...sweepDeps(engine, () => now, { deliveries: withMethods(engine.deliveries, { removeBefore }) }),
    throttle: { rest: async (workedMs: number) => (steps.push(workedMs > 0 ? 'rested' : 'idle'), 5_000) },
  };
  const report = await pruneDeliveries(deps, { endsAt: now + 1, closing: new AbortController().signal });
  expect(report).toEqual({ removed: rows, hasMore: false });
  expect(steps).toEqual([
    ...['removed 500', 'rested', 'removed 500', 'rested', 'removed 500', 'rested', 'removed 200', 'rested'],
    'removed 0',
  ]);
  const { values } = await deps.metrics.restedSeconds.get();
  expect(values[0]?.value).toBe(20);
});
