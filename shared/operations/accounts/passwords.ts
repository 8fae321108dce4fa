import { availableParallelism } from 'node:os';
import bcrypt from 'bcrypt';
import { passwordBytesMax } from '../../domain/accounts/account-rules.ts';
import { AppError } from '../../domain/errors.ts';
import type { HashingJob } from './hash-in-thread.ts';
import { HashingThread } from './hashing-thread.ts';

/** 2^12 rounds: about a quarter of a second per guess for an attacker who has the hashes. */
export const passwordCost = 12;

/** Limits memory and waiting time under a flood of logins. */
const waitingMax = 50;

export interface Passwords {
  /**
   * Returns the hash to store. Throws `limited` if too many jobs wait, and RangeError for a password that bcrypt would
   * truncate.
   */
  hash(password: string): Promise<string>;
  /**
   * Returns whether the password matches the hash. Without a hash (unknown account), it takes the same time and returns
   * false, so that timing reveals nothing. Throws `limited` if too many jobs wait.
   */
  matches(password: string, hash: string | null): Promise<boolean>;
  /** Ends the threads; running jobs fail. */
  close(): Promise<void>;
}

/**
 * Hashes with bcrypt on low-priority threads: at most two jobs at a time, or one if two would leave no core to the
 * event loop. Threads start with the first job. At most 50 jobs wait; more are rejected immediately.
 */
export function openPasswords(options: { cost?: number; concurrency?: number } = {}): Passwords {
  const cost = options.cost ?? passwordCost;
  const limit = concurrencyLimiter(options.concurrency ?? defaultConcurrency());
  const threads = new HashingThreads();
  // A hash that no password matches.
  const unmatchableHash = `${bcrypt.genSaltSync(cost)}${'.'.repeat(31)}`;
  return {
    async hash(password) {
      if (isTooLong(password)) throw new RangeError('a password of more than 72 bytes cannot be hashed');
      return limit(() => threads.run<string>({ password, cost }));
    },
    async matches(password, hash) {
      const isMatch = await limit(() => threads.run<boolean>({ password, hash: hash ?? unmatchableHash }));
      return isMatch && hash !== null && !isTooLong(password);
    },
    close: () => threads.close(),
  };
}

const isTooLong = (password: string): boolean => Buffer.byteLength(password) > passwordBytesMax;

/** The maximum number of threads: more would only be idle. */
const threadsMax = 2;

/**
 * Leaves one core to the event loop, with at least one and at most two threads, so that publishes do not wait for
 * hashing (measurements: docs/decisions/0001-count-login-attempts-before-hashing.md).
 */
function defaultConcurrency(): number {
  return Math.max(1, Math.min(availableParallelism() - 1, threadsMax));
}

/** A pool that grows to the number of concurrent jobs. */
class HashingThreads {
  readonly #idle: HashingThread[] = [];
  readonly #busy = new Set<HashingThread>();

  async run<T extends string | boolean>(job: HashingJob): Promise<T> {
    let thread = this.#idle.pop();
    if (thread === undefined || thread.hasEnded) thread = new HashingThread();
    this.#busy.add(thread);
    try {
      return (await thread.run(job)) as T;
    } finally {
      this.#busy.delete(thread);
      if (!thread.hasEnded) this.#idle.push(thread);
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#idle.splice(0), ...this.#busy].map((thread) => thread.close()));
  }
}

/** Runs up to `concurrency` jobs and queues up to `waitingMax`, in order of arrival. */
function concurrencyLimiter(concurrency: number): <T>(run: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (run) => {
    if (running < concurrency) running += 1;
    else if (waiting.length < waitingMax) await new Promise<void>((resolve) => waiting.push(resolve));
    else throw new AppError('limited', 'Rate limit exceeded', { retryAfterSeconds: 1 });
    try {
      return await run();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next(); // takes over this slot
    }
  };
}
