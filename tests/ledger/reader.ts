import type { ReaderLog, Seen } from './ledger.ts';

/** A reader that runs until it is stopped, and reconnects whenever it has to. */
export interface Reader {
  readonly name: string;
  readonly topics: readonly string[];
  /** Distinct ids seen so far. */
  readonly count: number;
  stop(): Promise<ReaderLog>;
}

/** What a reader collects; readers push into it. */
export class Collected {
  readonly seen: Seen[] = [];
  readonly #ids = new Set<string>();
  connections = 0;

  get count(): number {
    return this.#ids.size;
  }

  add(message: { topic: string; id: string; offset: number; message: string }): void {
    this.#ids.add(message.id);
    this.seen.push({ topic: message.topic, id: message.id, offset: message.offset, text: message.message });
  }

  log(name: string, topics: readonly string[], mayRepeat = false): ReaderLog {
    return { name, topics, seen: this.seen, connections: this.connections, mayRepeat };
  }
}

export interface ReadOptions {
  /** One per node; each new connection goes to the next. */
  readonly urls: readonly string[];
  readonly topic: string;
  /** Which node comes first. */
  readonly first?: number;
}
