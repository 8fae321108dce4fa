import { expect, test } from '@jest/globals';
import { AppError } from '../domain/errors.ts';
import { newId } from '../testing/builders.ts';
import { useTestEngine } from '../testing/use-test-engine.ts';
import { commitWithinQuota, quotaGuards } from './quota-guards.ts';

const engine = await useTestEngine();
const refusal = new AppError('forbidden', 'Private topic limit reached');

test('decides again if a concurrent change was counted', async () => {
  const { documents } = engine;
  const holderId = newId();
  const countAnother = () => commitWithinQuota(documents, holderId, async () => ({ writes: [], result: undefined }));
  let times = 0;
  const decide = async () => {
    times += 1;
    if (times > 2) return { writes: [], result: 'stored' };
    await countAnother();
    throw refusal;
  };
  expect(await commitWithinQuota(documents, holderId, decide)).toBe('stored');
  expect(times).toBe(3);
});

test('keeps a rejection if no other document was counted', async () => {
  let times = 0;
  const decide = async () => {
    times += 1;
    throw refusal;
  };
  await expect(commitWithinQuota(engine.documents, newId(), decide)).rejects.toBe(refusal);
  expect(times).toBe(1);
});

test('stores many concurrent documents with few commit attempts each', async () => {
  let commits = 0;
  const counting = {
    ...engine.documents,
    commit: (writes: Parameters<typeof engine.documents.commit>[0]) => {
      commits += 1;
      return engine.documents.commit(writes);
    },
  };
  const holderId = newId();
  const many = 40;
  await Promise.all(
    Array.from({ length: many }, () =>
      commitWithinQuota(counting, holderId, async () => ({ writes: [], result: undefined })),
    ),
  );
  expect((await engine.documents.get(quotaGuards, holderId))?.version).toBe(many);
  expect(commits).toBeLessThan(3 * many);
});
