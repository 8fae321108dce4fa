import type { Socket } from 'node:net';
import type { ReaderLog, Seen } from './ledger.ts';

/** Stands for the beginning of a topic. */
export const nilId = '00000000-0000-0000-0000-000000000000';

/** A reader that runs until it is stopped, and reconnects whenever it has to. */
export interface Reader {
  readonly name: string;
  readonly topics: readonly string[];
  /** Distinct ids seen so far. */
  readonly count: number;
  stop(): Promise<ReaderLog>;
}

/** A reader of a stream, which can stop taking what comes, as a client does whose machine is busy. */
export interface StreamReader extends Reader {
  /** Takes nothing more from the connection that is open, which stays open; the next one is read again. */
  pause(): void;
  resume(): void;
  /** How the server ended connections: by a WebSocket's close code, or `end` or `cut off` for SSE. */
  readonly ends: readonly (number | string)[];
  /** For each connection that brought a message, how long that took from when it was asked for. */
  readonly resumesMs: readonly number[];
  /** Of the connection that is open. */
  socket(): Socket | undefined;
}

/** A message object, as far as the ledger looks at it. */
export interface ReadMessage {
  readonly topic: string;
  readonly id: string;
  readonly offset: number;
  readonly message: string;
  /** ISO 8601. */
  readonly timestamp: string;
}

/** What a reader collects; readers push into it. */
export class Collected {
  readonly seen: Seen[] = [];
  readonly #ids = new Set<string>();
  readonly #onMessage: ((message: ReadMessage) => void) | undefined;
  connections = 0;

  constructor(options: Pick<ReadOptions, 'onMessage'> = {}) {
    this.#onMessage = options.onMessage;
  }

  get count(): number {
    return this.#ids.size;
  }

  add(message: ReadMessage): void {
    this.#onMessage?.(message);
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
  /** Where a stream goes on, instead of at the topic's beginning. */
  readonly sinceId?: string;
  /** Sent with each request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Told of each message as it comes, repeated ones too. */
  readonly onMessage?: (message: ReadMessage) => void;
}

/** The reader over what it collects; `end` stops what collects and resolves when nothing more will come. */
export function readerOver(
  collected: Collected,
  of: { name: string; topics: readonly string[]; mayRepeat?: boolean; end: () => Promise<void> },
): Reader {
  return {
    name: of.name,
    topics: of.topics,
    get count() {
      return collected.count;
    },
    async stop() {
      await of.end();
      return collected.log(of.name, of.topics, of.mayRepeat);
    },
  };
}
