import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { newId } from '../testing/builders.ts';
import { useTestEngine } from '../testing/use-test-engine.ts';
import { lockLifetimeMs, messageLocks, withMessageLocked } from './message-locks.ts';

const engine = await useTestEngine();
let now = 1_000_000;
const deps = () => ({ documents: engine.documents, clock: () => now });

test('runs work for one message sequentially and for different messages concurrently', async () => {
  const [id, other] = [newId(), newId()];
  let running = 0;
  let atOnce = 0;
  const work = async () => {
    running += 1;
    atOnce = Math.max(atOnce, running);
    await pause(2);
    running -= 1;
  };
  await Promise.all(Array.from({ length: 10 }, () => withMessageLocked(deps(), id, work)));
  expect(atOnce).toBe(1);
  const inside = await withMessageLocked(deps(), id, () =>
    withMessageLocked(deps(), other, () => Promise.resolve('both')),
  );
  expect(inside).toBe('both');
});

test('returns the result or error of the work and removes the lock', async () => {
  const id = newId();
  expect(await withMessageLocked(deps(), id, () => Promise.resolve(7))).toBe(7);
  await expect(withMessageLocked(deps(), id, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
  expect(await engine.documents.get(messageLocks, id)).toBeNull();
});

test('takes over the expired lock of a dead process, which cannot release the new lock', async () => {
  const id = newId();
  const died = Promise.withResolvers<void>();
  const late = withMessageLocked(deps(), id, () => died.promise);
  while ((await engine.documents.get(messageLocks, id)) === null) await pause(1);
  now += lockLifetimeMs - 1;
  let isTaken = false;
  const free = Promise.withResolvers<void>();
  const next = withMessageLocked(deps(), id, () => {
    isTaken = true;
    return free.promise;
  });
  await pause(100); // only elapsed time can show that the call waits
  expect(isTaken).toBe(false);
  now += 1;
  while (!isTaken) await pause(1);
  died.resolve();
  await late;
  expect(await engine.documents.get(messageLocks, id)).not.toBeNull();
  free.resolve();
  await next;
  expect(await engine.documents.get(messageLocks, id)).toBeNull();
});

test('takes over the lock of a dead process with a fast clock immediately', async () => {
  const id = newId();
  const died = Promise.withResolvers<void>();
  now += 3_600_000;
  const late = withMessageLocked(deps(), id, () => died.promise);
  while ((await engine.documents.get(messageLocks, id)) === null) await pause(1);
  now -= 3_600_000;
  expect(await withMessageLocked(deps(), id, () => Promise.resolve('taken over'))).toBe('taken over');
  died.resolve();
  await late;
});
