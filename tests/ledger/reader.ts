import type { Socket } from 'node:net';
import type { ReaderLog, Seen } from './ledger.ts';

/** The beginning of a topic. */
export const nilId = '00000000-0000-0000-0000-000000000000';

/** A reader that runs until it is stopped and reconnects as needed. */
export interface Reader {
  readonly name: string;
  readonly topics: readonly string[];
  /** The number of distinct IDs received so far. */
  readonly count: number;
  stop(): Promise<ReaderLog>;
}

/** A stream reader that can stop reading, like a client on a busy machine. */
export interface StreamReader extends Reader {
  /** Stops reading from the open connection without closing it; the next connection is read again. */
  pause(): void;
  resume(): void;
  /** How the server ended connections: the close code of a WebSocket, or `end` or `cut off` for SSE. */
  readonly ends: readonly (number | string)[];
  /** For each connection with a message, the time from the request to the first message. */
  readonly resumesMs: readonly number[];
  /** Of the open connection. */
  socket(): Socket | undefined;
}

/** The fields of a message that the ledger checks. */
export interface ReadMessage {
  readonly topic: string;
  readonly id: string;
  readonly offset: number;
  readonly message: string;
  /** ISO 8601. */
  readonly timestamp: string;
}

/** The collection to which readers add messages. */
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
  /** One per node; each new connection uses the next. */
  readonly urls: readonly string[];
  readonly topic: string;
  /** The index of the first node. */
  readonly first?: number;
  /** Where a stream starts, instead of the topic's beginning. */
  readonly sinceId?: string;
  /** Sent with each request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Called with each message, including duplicates. */
  readonly onMessage?: (message: ReadMessage) => void;
}

/** The reader of a collection; `end` stops collecting and resolves when no more messages will arrive. */
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
