import { expect, test } from '@jest/globals';
import { newId } from '@tocsin/shared/testing/builders.ts';
import { useTestEngine } from '@tocsin/shared/testing/use-test-engine.ts';
import { findKey } from './reserve-key.ts';

const engine = await useTestEngine();
const caller = { kind: 'anonymous', address: '192.0.2.1' } as const;

test('a key reserved by a node with a fast clock is available immediately, with its reserved message ID', async () => {
  const of = { caller, topicId: newId(), key: 'retry' };
  const now = Date.now();
  const find = (at: number) => findKey(engine, of, at);
  const first = await find(now + 3_600_000);
  if (first.kind !== 'free') throw new Error('the key is unused');
  const { messageId } = await first.reserve(newId());
  await expect(find(now + 3_600_000 + 9_999)).rejects.toMatchObject({ code: 'conflict' });
  const again = await find(now);
  if (again.kind !== 'free') throw new Error('nothing was published');
  expect((await again.reserve(newId())).messageId).toBe(messageId);
});
