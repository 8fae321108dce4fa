import { availableParallelism } from 'node:os';
import bcrypt from 'bcrypt';
import { passwordBytesMax } from '../../domain/accounts/account-rules.ts';
import { AppError } from '../../domain/errors.ts';
import type { HashingJob } from './hash-in-thread.ts';
import { HashingThread } from './hashing-thread.ts';

/** 2^12 rounds, about a quarter of a second on a core: what a guess costs whoever got hold of the hashes. */
export const passwordCost = 12;

/** Harm prevented: a flood of logins that fills the memory and makes everybody wait for longer than a client does. */
const waitingMax = 50;

export interface Passwords {
  /** The hash to store. Throws `limited` when too many wait, and a RangeError for a password that bcrypt would cut. */
  hash(password: string): Promise<string>;
  /**
   * Whether the password is the hash's. Costs the same without a hash (an unknown account), which is never a match, so
   * that the time tells nothing. Throws `limited` when too many wait.
   */
  matches(password: string, hash: string | null): Promise<boolean>;
  /** Ends the threads; what is under way fails. */
  close(): Promise<void>;
}

/**
 * bcrypt, two at a time at most, and one where two would leave no core to the loop (`concurrencyHere`), each on a thread that gives way to it; the first one
 * starts it. At most 50 wait; more are refused at once.
 */
export function openPasswords(options: { cost?: number; concurrency?: number } = {}): Passwords {
  const cost = options.cost ?? passwordCost;
  const inTurn = gate(options.concurrency ?? concurrencyHere());
  const threads = new HashingThreads();
  // A salt with a hash that no password has.
  const nobody = `${bcrypt.genSaltSync(cost)}${'.'.repeat(31)}`;
  return {
    async hash(password) {
      if (isTooLong(password)) throw new RangeError('a password of more than 72 bytes cannot be hashed');
      return inTurn(() => threads.run<string>({ password, cost }));
    },
    async matches(password, hash) {
      const isMatch = await inTurn(() => threads.run<boolean>({ password, hash: hash ?? nobody }));
      return isMatch && hash !== null && !isTooLong(password);
    },
    close: () => threads.close(),
  };
}

const isTooLong = (password: string): boolean => Buffer.byteLength(password) > passwordBytesMax;

/** Harm prevented: threads for nothing, on a machine with many cores. */
const threadsMax = 2;

/**
 * As many as leave a core to the event loop, which goes on serving everybody else, two at most; one where there is only one core. Harm prevented: a publish
 * that waits behind other people's guesses (docs/decisions/0001-accounts.md has the figures).
 */
function concurrencyHere(): number {
  return Math.max(1, Math.min(availableParallelism() - 1, threadsMax));
}

/** As many threads as have had jobs at the same time. */
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

/** Lets `concurrency` run and `waitingMax` wait, in order of arrival. */
function gate(concurrency: number): <T>(run: () => Promise<T>) => Promise<T> {
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
      else next(); // takes over this one's place
    }
  };
}
