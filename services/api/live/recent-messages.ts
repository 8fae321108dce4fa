import type { StoredMessage } from '@tocsin/shared/domain/messages/message.ts';
import { messageDelivery, type Delivery } from './delivery.ts';

/** Limits the memory of a node with readers of thousands of topics to about 100 KB per topic. */
const messagesMax = 100;
const charsMax = 32 * 1024;

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
  #entries: Entry[] = [];
  #chars = 0;

  /** `from`: everything after this offset will be added. */
  constructor(from: number) {
    this.#from = from;
  }

  /** Whether everything after the offset is present. */
  reaches(offset: number): boolean {
    return offset >= this.#from;
  }

  /** The newest message of the topic. */
  add(message: StoredMessage, delivery: Delivery): void {
    this.#entries.push({ message, delivery });
    this.#chars += message.message.length;
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
    this.#chars = this.#entries.reduce((sum, entry) => sum + entry.message.message.length, 0);
  }

  /** Prepends older messages: all of history after `from`, at least up to the present ones. */
  extend(from: number, older: readonly StoredMessage[], topicName: string): void {
    if (this.reaches(from)) return;
    const entries = older
      .filter(({ offset }) => offset <= this.#from)
      .map((message) => ({ message, delivery: messageDelivery(message, topicName) }));
    this.#entries = [...entries, ...this.#entries];
    this.#chars += entries.reduce((sum, { message }) => sum + message.message.length, 0);
    this.#from = from;
    this.#trim();
  }

  /** Returns history after a covered offset, in order, under the topic's name. */
  after(offset: number, { now, topicName }: { now: number; topicName: string }): Delivery[] {
    const deliveries: Delivery[] = [];
    for (const entry of this.#entries) {
      if (entry.message.offset <= offset || entry.message.expiresAt <= now) continue;
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
    while (this.#entries.length - dropped > messagesMax || (this.#chars > charsMax && dropped < this.#entries.length)) {
      const { message } = this.#entries[dropped]!;
      this.#chars -= message.message.length;
      this.#from = message.offset;
      dropped += 1;
    }
    if (dropped > 0) this.#entries.splice(0, dropped);
  }
}
