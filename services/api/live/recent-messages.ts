import type { StoredMessage } from '@tocsin/shared/domain/messages/message.ts';
import { messageDelivery, type Delivery } from './delivery.ts';

/** Harm prevented: a node that has readers of thousands of topics filling its memory, at most some 100 KB for each. */
const messagesMax = 100;
const charsMax = 32 * 1024;

interface Entry {
  readonly message: StoredMessage;
  delivery: Delivery;
}

/**
 * A topic's newest messages as they stand now, in memory: what streams missed that come back after a short time, however many
 * they are. Holds everything that history shows behind a position of its own, which moves up as it fills.
 */
export class RecentMessages {
  #from: number;
  #entries: Entry[] = [];
  #chars = 0;

  /** `from`: everything behind this position will be added. */
  constructor(from: number) {
    this.#from = from;
  }

  /** Whether everything behind the position is here. */
  reaches(position: number): boolean {
    return position >= this.#from;
  }

  /** The newest message of the topic. */
  add(message: StoredMessage, delivery: Delivery): void {
    this.#entries.push({ message, delivery });
    this.#chars += message.message.length;
    this.#trim();
  }

  /** A message is another one now; one that was deleted goes. */
  change(message: StoredMessage, topicName: string): void {
    const at = this.#entries.findIndex((entry) => entry.message.id === message.id);
    if (at < 0) return;
    const { offset } = this.#entries[at]!.message;
    const changed = { ...message, offset };
    const entries = message.isDeleted ? [] : [{ message: changed, delivery: messageDelivery(changed, topicName) }];
    this.#entries.splice(at, 1, ...entries);
    this.#chars = this.#entries.reduce((sum, entry) => sum + entry.message.message.length, 0);
  }

  /** Puts older ones in front: all that history shows behind `from`, at least as far as what is here. */
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

  /** What history shows behind a position that is reached, in order, under the topic's name. */
  after(position: number, { now, topicName }: { now: number; topicName: string }): Delivery[] {
    const deliveries: Delivery[] = [];
    for (const entry of this.#entries) {
      if (entry.message.offset <= position || entry.message.expiresAt <= now) continue;
      if (entry.delivery.topicName !== topicName) entry.delivery = messageDelivery(entry.message, topicName);
      deliveries.push(entry.delivery);
    }
    return deliveries;
  }

  /** The message with the id, if it is here. */
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
