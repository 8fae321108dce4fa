import { topicChannel, type Envelope } from '@tocsin/shared/domain/messages/channels.ts';
import type { StoredMessage } from '@tocsin/shared/domain/messages/message.ts';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import type { Clock } from '@tocsin/shared/platform/clock.ts';
import type { Bus, Subscribed } from '@tocsin/shared/ports/bus.ts';
import type { TopicRecord } from '@tocsin/shared/ports/messages.ts';
import type { History } from '@tocsin/shared/operations/messages/history.ts';
import { readTogether } from '@tocsin/shared/async/read-together.ts';
import type { Directory } from '../directory/directory.ts';
import { subscribeLater } from '../directory/subscribe-later.ts';
import { Delivery, messageDelivery } from './delivery.ts';
import { RecentMessages } from './recent-messages.ts';
import type { StoreOutage } from './store-outage.ts';

export interface FeedDeps {
  readonly bus: Pick<Bus, 'subscribe' | 'onConnected' | 'isConnected'>;
  /** Knows what topics are called now. */
  readonly directory: Pick<Directory, 'peekTopic' | 'topic'>;
  readonly history: History;
  readonly clock: Clock;
  readonly outage: StoreOutage;
}

/** Harm prevented: a topic that bursts while the store is slow would fill the memory. Beyond it the store is read again. */
const waitingMax = 10_000;
/** Records read from the store at once. */
const fillPage = 500;
/** Messages read at once for streams that come back. */
const resumePage = 500;
/** Harm prevented: streams that come back from everywhere asking for everything at once. */
const resumesAtOnce = 20;
/** Ids of messages whose positions are kept for those that come back to the same place. */
const placesMax = 100;

/** Messages that a stream missed, in order. */
export interface ResumePage {
  readonly deliveries: readonly Delivery[];
  /** Whether there were no more behind them. */
  readonly isLast: boolean;
}

/** Where a message is, and until when that can be said of it. */
export type Place = Pick<StoredMessage, 'offset' | 'expiresAt'>;

/** A topic's newest message. */
export type Newest = Pick<StoredMessage, 'id' | 'offset' | 'expiresAt'>;

/**
 * What a node knows of one topic's live records: the bus channel, and the position that every reader on this node has
 * reached. Envelopes are handed on in order, each once; where one says that it is not the next, what lies between is
 * read from the store first.
 */
export class TopicFeed {
  readonly topicId: string;
  readonly #deps: FeedDeps;
  readonly #place: Pick<Topic, 'id' | 'partition'>;
  readonly #listeners = new Set<(delivery: Delivery) => void>();
  #topicName: string;
  #subscribed: Subscribed | undefined;
  #last = -1;
  /** The newest message that history shows at `#last`; null: none; undefined: not known. */
  #newest: Newest | null | undefined;
  #recent = new RecentMessages(Infinity);
  readonly #places = new Map<string, Place>();
  readonly #pageBehind: (position: number) => Promise<ResumePage | undefined>;
  #waiting: Envelope[] = [];
  #isWorking = false;
  #mustFill = false;
  #closed = false;

  constructor(deps: FeedDeps, topic: Topic) {
    this.#deps = deps;
    this.topicId = topic.id;
    this.#place = { id: topic.id, partition: topic.partition };
    this.#topicName = topic.name;
    // Streams that come back together ask together, and most of them from the same position.
    this.#pageBehind = readTogether(
      async (positions) =>
        new Map(
          await Promise.all(positions.map(async (position) => [position, await this.#readBehind(position)] as const)),
        ),
      resumesAtOnce,
    );
  }

  /** Subscribes first and reads the position then, so that nothing falls between. Resolves when live. */
  async open(): Promise<void> {
    this.#isWorking = true;
    this.#subscribed = await subscribeLater(this.#deps.bus, topicChannel(this.topicId), (payload) =>
      this.#receive(payload),
    );
    this.#last = await this.#deps.history.settledTop(this.#place);
    this.#recent = new RecentMessages(this.#last);
    this.#isWorking = false;
    await this.#work();
  }

  /** The position that everything was handed on up to. */
  get last(): number {
    return this.#last;
  }

  /** Whether the store could not be read when it had to be: what was missed is still to be filled in. */
  get isBehind(): boolean {
    return this.#mustFill;
  }

  get listenerCount(): number {
    return this.#listeners.size;
  }

  listen(listener: (delivery: Delivery) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** What the topic is called, as far as this feed has been told. */
  get topicName(): string {
    return this.#topicName;
  }

  /**
   * The newest message that history shows, null for none. Undefined when only the store knows: the feed was not told, has
   * not reached the position, or the message has expired.
   */
  newestAt(position: number, now: number): Newest | null | undefined {
    if (position > this.#last) return undefined;
    return this.#newest === null || (this.#newest?.expiresAt ?? 0) > now ? this.#newest : undefined;
  }

  /** Keeps what the store said of the newest message, if it was said of the position that the feed is at. */
  noteNewest(position: number, newest: Newest | null): void {
    if (position === this.#last) this.#newest = newest;
  }

  /** Whether all that a stream at the position may have missed, but for what is still to come, is known here without the store. */
  reaches(position: number): boolean {
    return this.#recent.reaches(position);
  }

  /**
   * The first messages behind the position as history shows them, up to where the feed was when this was called at least: from
   * memory where that reaches back so far. Throws `unavailable`.
   */
  async behind(position: number): Promise<ResumePage> {
    return (await this.#pageBehind(position))!;
  }

  /** The position of a message that somebody has gone on from here before, or of a recent one; undefined when only the store knows it, or the message has expired. */
  placeOf(messageId: string): number | undefined {
    const place = this.#places.get(messageId) ?? this.#recent.find(messageId);
    return place !== undefined && place.expiresAt > this.#deps.clock() ? place.offset : undefined;
  }

  /** Keeps where a message is, for those who come back to the same place. */
  notePlace(messageId: string, place: Place): void {
    if (this.#places.size >= placesMax) this.#places.clear();
    this.#places.set(messageId, place);
  }

  /** Reads from the store what the bus has not brought. Never rejects: what fails now is tried again with the next call. */
  async fill(): Promise<void> {
    this.#mustFill = true;
    await this.#work();
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#deps.outage.over(this.topicId);
    this.#listeners.clear();
    await this.#subscribed?.close().catch(() => undefined); // a bus that is away has forgotten us anyway
  }

  #receive(payload: string): void {
    if (this.#closed) return;
    if (this.#waiting.length >= waitingMax) {
      this.#waiting = [];
      this.#mustFill = true;
    } else {
      this.#waiting.push(JSON.parse(payload) as Envelope);
    }
    if (!this.#isWorking) void this.#work();
  }

  /** Hands on what waits, in order. One at a time; who comes while it runs is served by it. */
  async #work(): Promise<void> {
    if (this.#isWorking) return;
    this.#isWorking = true;
    try {
      while (!this.#closed && (this.#mustFill || this.#waiting.length > 0)) {
        if (this.#mustFill) {
          this.#mustFill = false;
          await this.#readStore();
          continue;
        }
        const envelope = this.#waiting.shift()!;
        if (envelope.offset <= this.#last) continue;
        await this.#learnName();
        // What changes a message shows the message's own position, which only the store knows.
        const isNext = envelope.previousOffset === null || envelope.previousOffset <= this.#last;
        if (!isNext || envelope.record.type !== 'message') await this.#readStore();
        if (envelope.offset > this.#last) this.#handOn(envelope);
      }
      this.#deps.outage.over(this.topicId);
    } catch (error) {
      // The envelope that asked for the store is gone with this: only the store has it now.
      this.#mustFill = true;
      if (!this.#closed) this.#deps.outage.failed(this.topicId, error);
    } finally {
      this.#isWorking = false;
    }
  }

  /**
   * Whoever was told that a topic has a new name sees it on all that was published afterwards: the change is told before
   * the publish is, and with it what was known of the topic is forgotten here.
   */
  async #learnName(): Promise<void> {
    const { directory } = this.#deps;
    const topic = directory.peekTopic(this.topicId) ?? (await directory.topic(this.topicId).catch(() => null));
    if (topic !== null) this.#topicName = topic.name;
  }

  async #readBehind(position: number): Promise<ResumePage> {
    if (this.#recent.reaches(position)) {
      return {
        deliveries: this.#recent.after(position, { now: this.#deps.clock(), topicName: this.#topicName }),
        isLast: true,
      };
    }
    const last = this.#last;
    const page = await this.#deps.history.after(this.#place, position, resumePage);
    const isLast = page.length < resumePage;
    // What came meanwhile may have changed a message of the page: then the next who asks brings it.
    if (isLast && this.#last === last) this.#recent.extend(position, page, this.#topicName);
    return { deliveries: page.map((message) => messageDelivery(message, this.#topicName)), isLast };
  }

  async #readStore(): Promise<void> {
    await this.#learnName();
    for (;;) {
      const page = await this.#deps.history.records(this.#place, this.#last + 1, fillPage);
      for (const record of page) this.#deliver(record);
      if (page.length < fillPage || this.#closed) return;
    }
  }

  #handOn({ offset, record }: Envelope): void {
    if (record.type === 'message') this.#deliver({ offset, type: record.type, message: { ...record.message, offset } });
    // A change that the store no longer shows: its message has expired.
    else this.#last = offset;
  }

  #deliver(record: Pick<TopicRecord, 'offset' | 'type' | 'message'>): void {
    this.#last = record.offset;
    if (record.type === 'message' && !record.message.isDeleted) this.#newest = record.message;
    else if (record.message.id === this.#newest?.id) this.#newest = undefined;
    if (record.type !== 'message') this.#recent.change(record.message, this.#topicName);
    // Deleted since: its deletion comes as a record of its own.
    if (record.type === 'message' && record.message.isDeleted) return;
    const delivery = new Delivery(record, this.#topicName);
    if (record.type === 'message') this.#recent.add(record.message, delivery);
    for (const listener of this.#listeners) listener(delivery);
  }
}
