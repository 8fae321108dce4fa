import { setImmediate as nextTurn } from 'node:timers/promises';
import { coalescedInterval } from '@tocsin/shared/async/coalesced-timer.ts';

/** Proxies close connections without data after 30 or 60 seconds. */
const pingMs = 25_000;
const lookMs = 500;
/** Pings per turn of the event loop, so that thousands of streams do not block other work. */
const pingsPerTurn = 100;

interface Pinged {
  ping(): void;
}

/** Pings each stream 25 seconds after it opened and after each ping. */
export class StreamPings {
  readonly #everyMs: number;
  /** The time of each stream's next ping, in order. */
  readonly #due = new Map<Pinged, number>();
  readonly #stop: () => void;
  #isPinging = false;

  constructor({ everyMs = pingMs }: { everyMs?: number } = {}) {
    this.#everyMs = everyMs;
    this.#stop = coalescedInterval(Math.min(lookMs, everyMs), () => void this.#ping(), { isBackground: true });
  }

  add(stream: Pinged): void {
    this.#due.set(stream, performance.now() + this.#everyMs);
  }

  delete(stream: Pinged): void {
    this.#due.delete(stream);
  }

  close(): void {
    this.#stop();
    this.#due.clear();
  }

  async #ping(): Promise<void> {
    if (this.#isPinging) return;
    this.#isPinging = true;
    let pings = 0;
    for (const [stream, dueAt] of this.#due) {
      if (dueAt > performance.now()) break;
      this.#due.delete(stream);
      this.add(stream);
      stream.ping();
      pings += 1;
      if (pings % pingsPerTurn === 0) await nextTurn();
    }
    this.#isPinging = false;
  }
}
