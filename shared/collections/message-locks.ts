import { setTimeout as pause } from 'node:timers/promises';
import { AppError } from '../domain/errors.ts';
import {
  StaleVersion,
  UniqueKeyViolation,
  write,
  type Collection,
  type Document,
  type Documents,
} from '../ports/documents.ts';

/** The lock of a message during a change. */
export interface MessageLock extends Document {
  readonly takenAt: number;
}

export const messageLocks: Collection<MessageLock> = {
  name: 'messageLocks',
  fields: { takenAt: 'time' },
  uniqueKeys: {},
  indexes: { byTime: ['takenAt'] },
};

/** Longer than any change takes; an older lock belongs to a dead process. */
export const lockLifetimeMs = 10_000;
/** How long a change waits for earlier ones, so that requests for one message do not pile up. */
const waitMsMax = 15_000;
const longestPauseMs = 50;

/**
 * Runs the work with an exclusive lock on the message across all nodes, so that the message does not change meanwhile.
 * Rejects with the error of the work, or with AppError `unavailable` if the lock is taken for 15 seconds or the store
 * is down.
 */
export async function withMessageLocked<T>(
  { documents, clock }: { documents: Documents; clock: () => number },
  messageId: string,
  work: () => Promise<T>,
): Promise<T> {
  const lock = await take(documents, messageId, clock);
  try {
    return await work();
  } finally {
    // On failure, the lock expires.
    await documents.commit([write.remove(messageLocks, lock.id, lock.version)]).catch(() => undefined);
  }
}

async function take(documents: Documents, id: string, clock: () => number): Promise<MessageLock> {
  const deadline = performance.now() + waitMsMax;
  for (let pauseMs = 2; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
    const lock = await tryAcquire(documents, id, clock());
    if (lock !== null) return lock;
    if (performance.now() >= deadline)
      throw new AppError('unavailable', 'Too many concurrent changes', { retryAfterSeconds: 1 });
    await pause(pauseMs * (0.5 + Math.random()));
  }
}

async function tryAcquire(documents: Documents, id: string, now: number): Promise<MessageLock | null> {
  try {
    const held = await documents.get(messageLocks, id);
    if (held === null) return await documents.insert(messageLocks, { id, takenAt: now });
    // The lock's time is from its owner's clock, which may be ahead of ours by more.
    return Math.abs(now - held.takenAt) < lockLifetimeMs
      ? null
      : await documents.update(messageLocks, held, { takenAt: now });
  } catch (error) {
    if (error instanceof UniqueKeyViolation || error instanceof StaleVersion) return null;
    throw error;
  }
}
