import type { MessageIngest } from '@tocsin/shared/ports/messages/message-ingest.ts';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import type { PlacedRecord } from '@tocsin/shared/domain/messages/log-record.ts';
import { unavailable } from '@tocsin/shared/domain/errors.ts';
import { openLogger } from '@tocsin/shared/platform/logger.ts';
import { newMessage } from '@tocsin/shared/testing/builders.ts';
import { inlineStore, type InlineStore } from './inline-store.ts';

/** The fixed time of all tests here. */
const now = 1_000_000;

/** A message store whose writes finish under the control of the test. */
function storeOf(apply: () => Promise<void>): InlineStore {
  return inlineStore({
    messages: { apply } as unknown as MessageIngest,
    clock: () => now,
    log: openLogger('test', 'silent'),
  });
}

function newRecord(): PlacedRecord {
  const message = newMessage('a topic');
  return { partition: 0, offset: 0, record: { type: 'message', timestamp: message.timestamp, message } };
}

test('a publish waits for a slow store, so that acknowledged messages are readable', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  let isOver = false;
  const storing = storeOf(() => promise)
    .store(newRecord())
    .then(() => (isOver = true));
  await pause(600); // only waiting shows that the publish is held
  expect(isOver).toBe(false);
  resolve();
  await storing;
});

test('waits at most a second for an unresponsive store, and after two misses not at all', async () => {
  const silent = storeOf(() => new Promise(() => undefined));
  const startedAt = performance.now();
  await Promise.all([silent.store(newRecord()), silent.store(newRecord())]);
  expect(performance.now() - startedAt).toBeGreaterThan(900);
  // The first write after that is a probe, for which one publish waits.
  const probe = silent.store(newRecord());
  await silent.store(newRecord());
  const first = await Promise.race([probe.then(() => 'the probe'), silent.store(newRecord()).then(() => 'nobody')]);
  expect(first).toBe('nobody');
  await probe;
});

test('does not wait for a store that reports itself as unavailable', async () => {
  const unavailableStore = storeOf(() => Promise.reject(unavailable('Database')));
  for (let count = 0; count < 5; count += 1) {
    const silentStore = storeOf(() => new Promise(() => undefined));
    // A wait for the unavailable store would end after the wait for the silent one, which begins earlier.
    const first = await Promise.race([
      silentStore.store(newRecord()).then(() => 'silent'),
      unavailableStore.store(newRecord()).then(() => 'unavailable'),
    ]);
    expect(first).toBe('unavailable');
  }
});
