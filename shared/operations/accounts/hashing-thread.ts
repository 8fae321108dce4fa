import { Worker } from 'node:worker_threads';
import type { HashingJob } from './hash-in-thread.ts';

type Outcome = { readonly value: string | boolean } | { readonly error: Error };

/**
 * A low-priority thread that runs one hashing job at a time. bcrypt would otherwise run on libuv's threads, which have
 * the priority of the process, so that on few cores a publish would wait for password hashing. If the thread dies, its
 * job fails.
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
      this.#end({ error: new Error('the password hashing thread ended') });
    });
    this.#worker.unref();
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Resolves with the hash or the comparison. The caller ensures that no other job is running. */
  run(job: HashingJob): Promise<string | boolean> {
    return new Promise((resolve, reject) => {
      this.#settle = (outcome) => ('value' in outcome ? resolve(outcome.value) : reject(outcome.error));
      this.#worker.ref(); // keeps the process alive only while a job runs
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
