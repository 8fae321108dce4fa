import { availableParallelism } from 'node:os';
import bcrypt from 'bcrypt';
import { passwordBytesMax } from '../domain/account-rules.ts';
import { AppError } from '../domain/errors.ts';

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
}

/**
 * bcrypt, as many at a time as leave a core to the loop (`concurrencyHere`). At most 50 wait; more are refused at once.
 */
export function openPasswords(options: { cost?: number; concurrency?: number } = {}): Passwords {
  const cost = options.cost ?? passwordCost;
  const inTurn = gate(options.concurrency ?? concurrencyHere());
  // A salt with a hash that no password has.
  const nobody = `${bcrypt.genSaltSync(cost)}${'.'.repeat(31)}`;
  return {
    async hash(password) {
      if (isTooLong(password)) throw new RangeError('a password of more than 72 bytes cannot be hashed');
      return inTurn(() => bcrypt.hash(password, cost));
    },
    async matches(password, hash) {
      const isMatch = await inTurn(() => bcrypt.compare(password, hash ?? nobody));
      return isMatch && hash !== null && !isTooLong(password);
    },
  };
}

const isTooLong = (password: string): boolean => Buffer.byteLength(password) > passwordBytesMax;

/**
 * All cores but one, on which the event loop goes on serving everybody else; one where there is only one. And at most half of
 * libuv's threads (4, or UV_THREADPOOL_SIZE), since on the others run the check of an access token that is new to the node,
 * the lookup of a host's name, and the access to files; SQLite writes on the loop and reads on threads of its own. Harm
 * prevented: a publish that waits behind other people's guesses (docs/decisions/0001-accounts.md has the figures).
 */
function concurrencyHere(): number {
  const threads = Number(process.env['UV_THREADPOOL_SIZE']) || 4;
  return Math.max(1, Math.min(availableParallelism() - 1, Math.floor(threads / 2)));
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
