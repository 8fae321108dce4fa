import { expect, test } from '@jest/globals';
import { unavailable } from '@tocsin/shared/domain/errors.ts';
import type { Documents } from '@tocsin/shared/ports/documents.ts';
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

test.each([[true], [false]])(
  'reserves a key once if the response to its reservation is lost (stored: %s)',
  async (isStored) => {
    let lost = 0;
    const insert: Documents['insert'] = async (collection, document) => {
      if (lost > 0) return engine.documents.insert(collection, document);
      lost += 1;
      if (isStored) await engine.documents.insert(collection, document);
      throw unavailable('Database');
    };
    const deps = { documents: { ...engine.documents, insert }, messages: engine.messages };
    const of = { caller, topicId: newId(), key: 'lost' };
    const now = Date.now();
    const first = await findKey(deps, of, now);
    if (first.kind !== 'free') throw new Error('the key is unused');
    const messageId = newId();
    const reservation = await first.reserve(messageId);
    expect([lost, reservation.messageId]).toEqual([1, messageId]);
    await expect(findKey(engine, of, now)).rejects.toMatchObject({ code: 'conflict' });
    await reservation.fail();
    expect(await findKey(engine, of, now)).toMatchObject({ kind: 'free' });
  },
);

test('does not take a key that another publish reserved while the response was lost', async () => {
  const of = { caller, topicId: newId(), key: 'raced' };
  const now = Date.now();
  const other = await findKey(engine, of, now);
  let lost = 0;
  const insert: Documents['insert'] = async (collection, document) => {
    if (lost > 0 || other.kind !== 'free') return engine.documents.insert(collection, document);
    lost += 1;
    await other.reserve(newId());
    throw unavailable('Database');
  };
  const first = await findKey({ documents: { ...engine.documents, insert }, messages: engine.messages }, of, now);
  if (first.kind !== 'free') throw new Error('the key is unused');
  await expect(first.reserve(newId())).rejects.toMatchObject({ code: 'conflict' });
  expect(lost).toBe(1);
});
