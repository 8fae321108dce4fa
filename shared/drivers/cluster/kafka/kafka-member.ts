import { setTimeout as sleep } from 'node:timers/promises';
import type { Consumption } from '../../../ports/event-log.ts';
import { KafkaSession, type SessionOptions } from './kafka-session.ts';
import { within } from '../../../async/within.ts';

const rebuildPauseMs = { first: 250, longest: 2_000 } as const;
/** How long a shutdown waits for a handler that ignores its signal: a third of the time limit. */
const handlersTimeoutMs = 10_000;

/**
 * A permanent member of a consumer group: runs kafkajs consumers, one at a time, and replaces each one that crashes or
 * stalls.
 */
export class KafkaMember implements Consumption {
  readonly #options: SessionOptions;
  readonly #abort = new AbortController();
  readonly #joined = Promise.withResolvers<void>();
  readonly #handling = new Map<number, Promise<void>>();
  #hasJoined = false;
  #session: KafkaSession | undefined;
  #running: Promise<void> | undefined;

  constructor(options: Omit<SessionOptions, 'onJoined' | 'handling' | 'handledUpTo'>) {
    this.#options = {
      ...options,
      handling: this.#handling,
      handledUpTo: new Map(),
      onJoined: () => {
        this.#hasJoined = true;
        this.#joined.resolve();
      },
    };
  }

  /** Resolves once the member has joined the group or is closed. */
  start(): Promise<void> {
    this.#options.watch?.start(() => this.#session?.hastenHeartbeats());
    this.#running = this.#run();
    return this.#joined.promise;
  }

  async close(): Promise<void> {
    this.#abort.abort();
    await this.#running;
    await this.#options.watch?.close();
    this.#joined.resolve();
  }

  async #run(): Promise<void> {
    const { signal } = this.#abort;
    const { log, consume } = this.#options;
    let pauseMs: number = rebuildPauseMs.first;
    while (!signal.aborted) {
      this.#hasJoined = false;
      const reason = await this.#runSession(signal);
      if (signal.aborted) return;
      log.warn({ err: reason, group: consume.group, pauseMs }, 'log consumer ended, recreating it');
      await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
      pauseMs = this.#hasJoined ? rebuildPauseMs.first : Math.min(pauseMs * 2, rebuildPauseMs.longest);
    }
  }

  /** Runs one session; resolves with the reason of its end. */
  async #runSession(signal: AbortSignal): Promise<unknown> {
    const session = new KafkaSession(this.#options);
    this.#session = session;
    const closing = new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    const failing = session.start().then(
      () => session.ended,
      (error: unknown) => error,
    );
    const reason = await Promise.race([failing, session.ended, closing]);
    session.stop();
    if (signal.aborted) await this.#waitForHandlers();
    else this.#options.watch?.renew();
    await session.leave();
    return reason;
  }

  async #waitForHandlers(): Promise<void> {
    const { log, consume } = this.#options;
    const handlers = Promise.all(this.#handling.values());
    await within(handlersTimeoutMs, 'the handler', handlers).catch((error: unknown) =>
      log.warn({ err: error, group: consume.group }, 'a handler did not end when its consumer closed'),
    );
  }
}
