import { expect, test } from '@jest/globals';
import { AppError } from '../domain/errors.ts';
import { newId } from '../testing/builders.ts';
import { useTestEngine } from '../testing/use-test-engine.ts';
import { commitWithinQuota } from './quota-guards.ts';

const engine = await useTestEngine();
const refusal = new AppError('forbidden', 'Private topic limit reached');

test('what was refused while something else was counted is decided anew', async () => {
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

test('what was refused while nothing else was counted stays refused', async () => {
  let times = 0;
  const decide = async () => {
    times += 1;
    throw refusal;
  };
  await expect(commitWithinQuota(engine.documents, newId(), decide)).rejects.toBe(refusal);
  expect(times).toBe(1);
});
