import type { StoredMessage } from '@tocsin/shared/domain/messages/message.ts';
import type { RecentBudget } from './recent-budget.ts';
import { messageDelivery, type Delivery } from './delivery.ts';

/** Limits the time to find a message by its ID, which looks at one after the other. */
const messagesMax = 3_000;
/** The part of the node's budget that one topic can use: enough for a burst of 2 MB. */
const bytesMax = 8 * 1024 * 1024;

interface Entry {
  readonly message: StoredMessage;
  delivery: Delivery;
}

/**
 * A topic's newest messages in their current form, in memory, for streams that reconnect after a short
 * time. Contains all of history after its start, which advances as it fills.
 */
export class RecentMessages {
  #from: number;
  readonly #budget: RecentBudget;
  #entries: Entry[] = [];
  #bytes = 0;

  /** `from`: everything after this offset will be added. */
  constructor(from: number, budget: RecentBudget) {
    this.#from = from;
    this.#budget = budget;
  }

  /** Forgets all messages. */
  clear(): void {
    this.#from = this.#entries.at(-1)?.message.offset ?? this.#from;
    this.#entries = [];
    this.#bytes = 0;
    this.#budget.use(this, 0);
  }

  /** Whether everything after the offset is present. */
  reaches(offset: number): boolean {
    return offset >= this.#from;
  }

  /** The newest message of the topic. */
  add(message: StoredMessage, delivery: Delivery): void {
    this.#entries.push({ message, delivery });
    this.#bytes += delivery.bytes;
    this.#trim();
  }

  /** Replaces a message, or removes it if it was deleted. */
  change(message: StoredMessage, topicName: string): void {
    const at = this.#entries.findIndex((entry) => entry.message.id === message.id);
    if (at < 0) return;
    const { offset } = this.#entries[at]!.message;
    const changed = { ...message, offset };
    const entries = message.isDeleted ? [] : [{ message: changed, delivery: messageDelivery(changed, topicName) }];
    this.#entries.splice(at, 1, ...entries);
    this.#bytes = this.#entries.reduce((sum, entry) => sum + entry.delivery.bytes, 0);
  }

  /** Prepends older messages: all of history after `from`, at least up to the present ones. */
  extend(from: number, older: readonly StoredMessage[], topicName: string): void {
    if (this.reaches(from)) return;
    const entries = older
      .filter(({ offset }) => offset <= this.#from)
      .map((message) => ({ message, delivery: messageDelivery(message, topicName) }));
    this.#entries = [...entries, ...this.#entries];
    this.#bytes += entries.reduce((sum, { delivery }) => sum + delivery.bytes, 0);
    this.#from = from;
    this.#trim();
  }

  /** Returns history after a covered offset, in order, under the topic's name. */
  after(offset: number, { now, topicName }: { now: number; topicName: string }): Delivery[] {
    const deliveries: Delivery[] = [];
    this.#budget.use(this, this.#bytes);
    for (let index = this.#indexAfter(offset); index < this.#entries.length; index += 1) {
      const entry = this.#entries[index]!;
      if (entry.message.expiresAt <= now) continue;
      if (entry.delivery.topicName !== topicName) entry.delivery = messageDelivery(entry.message, topicName);
      deliveries.push(entry.delivery);
    }
    return deliveries;
  }

  /** Returns the message with the ID, if present. */
  find(id: string): StoredMessage | undefined {
    return this.#entries.find(({ message }) => message.id === id)?.message;
  }

  #trim(): void {
    let dropped = 0;
    while (this.#entries.length - dropped > messagesMax || this.#bytes > bytesMax) {
      const { message, delivery } = this.#entries[dropped]!;
      this.#bytes -= delivery.bytes;
      this.#from = message.offset;
      dropped += 1;
    }
    if (dropped > 0) this.#entries.splice(0, dropped);
    this.#budget.use(this, this.#bytes);
  }

  /** The index of the first message after the offset. */
  #indexAfter(offset: number): number {
    let [low, high] = [0, this.#entries.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#entries[middle]!.message.offset <= offset) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
