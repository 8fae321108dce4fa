import { expect, test } from '@jest/globals';
import type { Documents } from '@tocsin/shared/ports/documents.ts';
import { idempotencyKeys } from '@tocsin/shared/collections/idempotency-keys.ts';
import { newId } from '@tocsin/shared/testing/builders.ts';
import { useTestEngine } from '@tocsin/shared/testing/use-test-engine.ts';
import { removeOlder } from './remove-older.ts';
import { withMethods, sweepDeps } from './sweep-deps.fixtures.ts';

const engine = await useTestEngine();

test('keeps a document that changes between lookup and removal, and removes the others', async () => {
  const { documents } = engine;
  const insert = () =>
    documents.insert(idempotencyKeys, {
      id: newId(),
      messageId: newId(),
      reservedAt: 0,
      hasFailed: false,
      expiresAt: 1_000,
    });
  const [first, usedAgain, last] = [await insert(), await insert(), await insert()];
  // A concurrent write.
  let use: Promise<unknown> | undefined;
  const find: Documents['find'] = async (collection, query) => {
    const found = await documents.find(collection, query);
    await (use ??= documents.update(idempotencyKeys, usedAgain, { expiresAt: 5_000 }));
    return found;
  };
  const deps = sweepDeps(engine, () => 2_000, { documents: withMethods(documents, { find }) });
  const report = await removeOlder(
    deps,
    { endsAt: 3_000, closing: new AbortController().signal },
    { collection: idempotencyKeys, index: 'byExpiry', time: 2_000 },
  );
  expect(report).toEqual({ removed: 2, hasMore: false });
  const left = await documents.getMany(idempotencyKeys, [first.id, usedAgain.id, last.id]);
  expect(left.map(({ id }) => id)).toEqual([usedAgain.id]);
});

test('rests after each full batch', async () => {
  const { documents } = engine;
  for (let n = 0; n < 1_100; n += 1)
    await documents.insert(idempotencyKeys, {
      id: newId(),
      messageId: newId(),
      reservedAt: 0,
      hasFailed: false,
      expiresAt: 1_000,
    });
  const rests: number[] = [];
  const deps = {
    ...sweepDeps(engine, () => 2_000),
    throttle: { rest: async (workedMs: number) => rests.push(workedMs) },
  };
  const report = await removeOlder(
    deps,
    { endsAt: 3_000, closing: new AbortController().signal },
    { collection: idempotencyKeys, index: 'byExpiry', time: 2_000 },
  );
  expect(report).toEqual({ removed: 1_100, hasMore: false });
  expect(rests.length).toBe(2);
  expect(Math.min(...rests)).toBeGreaterThan(0);
});
