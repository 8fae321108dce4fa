import { Worker } from 'node:worker_threads';
import type { HashingJob } from './hash-in-thread.ts';

type Outcome = { readonly value: string | boolean } | { readonly error: Error };

/**
 * A thread that hashes, for one job at a time. It gives way to the loop: of libuv's threads, on which bcrypt would run by itself,
 * all have the priority of the process, and where there are too few cores for both a publish would wait for a slice of somebody's
 * guess. A thread that dies fails the job that it has.
 */
export class HashingThread {
  readonly #worker = new Worker(new URL('./hash-in-thread.ts', import.meta.url));
  #settle: ((outcome: Outcome) => void) | undefined;
  #hasEnded = false;

  constructor() {
    this.#worker.on('message', (outcome: Outcome) => this.#end(outcome));
    this.#worker.on('error', (error: Error) => {
      this.#hasEnded = true;
      this.#end({ error });
    });
    this.#worker.on('exit', () => {
      this.#hasEnded = true;
      this.#end({ error: new Error('the thread that hashes passwords has ended') });
    });
    this.#worker.unref();
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** The hash, or whether it is the hash's. No other job is under way. */
  run(job: HashingJob): Promise<string | boolean> {
    return new Promise((resolve, reject) => {
      this.#settle = (outcome) => ('value' in outcome ? resolve(outcome.value) : reject(outcome.error));
      this.#worker.ref(); // while it works, and only then, it keeps the process from ending
      this.#worker.postMessage(job);
    });
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }

  #end(outcome: Outcome): void {
    this.#worker.unref();
    this.#settle?.(outcome);
    this.#settle = undefined;
  }
}
