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

/** Somebody is changing the message with this id. */
export interface MessageLock extends Document {
  readonly takenAt: number;
}

export const messageLocks: Collection<MessageLock> = {
  name: 'messageLocks',
  fields: { takenAt: 'time' },
  uniqueKeys: {},
  indexes: { byTime: ['takenAt'] },
};

/** Longer than a change lasts, however slow the log is: a lock that is older belongs to a process that died. */
export const lockLifetimeMs = 10_000;
/** How long a change waits for those before it. Harm prevented: requests that pile up behind one message. */
const waitMsMax = 15_000;
const longestPauseMs = 50;

/**
 * Runs the work while nobody else, on any node, runs any for the same message: what it reads of the message holds until it
 * is done. Rejects with what the work throws, with AppError `unavailable` when others keep the message for 15 seconds
 * or the store is away.
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
    // When this fails the lock is taken over once it is old.
    await documents.commit([write.remove(messageLocks, lock.id, lock.version)]).catch(() => undefined);
  }
}

async function take(documents: Documents, id: string, clock: () => number): Promise<MessageLock> {
  const deadline = performance.now() + waitMsMax;
  for (let pauseMs = 2; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
    const lock = await tryToTake(documents, id, clock());
    if (lock !== null) return lock;
    if (performance.now() >= deadline)
      throw new AppError('unavailable', 'Too many changes of this at once', { retryAfterSeconds: 1 });
    await pause(pauseMs * (0.5 + Math.random()));
  }
}

async function tryToTake(documents: Documents, id: string, now: number): Promise<MessageLock | null> {
  try {
    const held = await documents.get(messageLocks, id);
    if (held === null) return await documents.insert(messageLocks, { id, takenAt: now });
    // By the clock of whoever took it, which may stand ahead of ours by more.
    return Math.abs(now - held.takenAt) < lockLifetimeMs
      ? null
      : await documents.update(messageLocks, held, { takenAt: now });
  } catch (error) {
    if (error instanceof UniqueKeyViolation || error instanceof StaleVersion) return null;
    throw error;
  }
}
