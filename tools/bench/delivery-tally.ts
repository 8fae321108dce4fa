import type { OnText } from './event-connection.ts';

const digits = 8;
const zero = 48;

/** A text of the given size that begins with the message number, which identifies the message to a subscriber. */
export function textOf(number: number, bytes: number): string {
  return String(number).padStart(digits, '0').padEnd(bytes, 'x');
}

/** Parses the message number at the beginning of a text. Returns NaN or a number out of range for other texts. */
function numberAt(bytes: Buffer, at: number): number {
  let number = 0;
  for (let index = at; index < at + digits; index += 1) number = number * 10 + bytes[index]! - zero;
  return number;
}

/** Records which stream received which numbered message, and the latency of each delivery. */
export class DeliveryTally {
  readonly #messages: number;
  readonly #topics: number;
  readonly #sentAt: Float64Array;
  readonly #seen: Uint8Array;
  readonly #latencies: Float64Array;
  #received = 0;
  distinct = 0;
  repeated = 0;
  outOfOrder = 0;
  /** Time of the last received message. */
  lastAt = 0;

  /** Message n belongs to topic n modulo `topics`. Only messages of the same topic are ordered. */
  constructor(streams: number, messages: number, topics = 1) {
    this.#topics = topics;
    this.#messages = messages;
    this.#sentAt = new Float64Array(messages);
    this.#seen = new Uint8Array(streams * messages);
    this.#latencies = new Float64Array(streams * messages);
  }

  get received(): number {
    return this.#received;
  }

  /** Resets the counters, but not the set of received messages. */
  startMeasuring(): void {
    this.#received = this.distinct = this.repeated = this.outOfOrder = 0;
  }

  sent(number: number, at: number): void {
    this.#sentAt[number] = at;
  }

  /** In milliseconds, one per delivery. */
  latencies(): Float64Array {
    return this.#latencies.subarray(0, this.#received);
  }

  /** Returns the receiver for the texts of one stream. */
  stream(index: number): OnText {
    const base = index * this.#messages;
    const last = new Int32Array(this.#topics).fill(-1);
    return (bytes, textAt) => {
      const number = numberAt(bytes, textAt);
      if (!(number >= 0 && number < this.#messages)) return;
      const now = performance.now();
      this.lastAt = now;
      if (this.#received < this.#latencies.length) this.#latencies[this.#received] = now - this.#sentAt[number]!;
      this.#received += 1;
      if (this.#seen[base + number] === 1) this.repeated += 1;
      else this.distinct += 1;
      this.#seen[base + number] = 1;
      const topic = number % this.#topics;
      if (number < last[topic]!) this.outOfOrder += 1;
      else last[topic] = number;
    };
  }
}
