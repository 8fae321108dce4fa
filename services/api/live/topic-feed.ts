import { topicChannel, type Envelope } from '@tocsin/shared/domain/messages/channels.ts';
import type { StoredMessage } from '@tocsin/shared/domain/messages/message.ts';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import type { Clock } from '@tocsin/shared/platform/clock.ts';
import type { ChannelSubscription, PubSub } from '@tocsin/shared/ports/bus/pub-sub.ts';
import type { TopicRecord } from '@tocsin/shared/ports/messages/message-reads.ts';
import type { History } from '@tocsin/shared/operations/messages/history.ts';
import { batchLoader } from '@tocsin/shared/async/batch-loader.ts';
import type { Directory } from '../directory/directory.ts';
import { subscribeLater } from '@tocsin/shared/async/subscribe-later.ts';
import { messageDelivery, recordDelivery, type Delivery } from './delivery.ts';
import type { RecentBudget } from './recent-budget.ts';
import { RecentMessages } from './recent-messages.ts';
import type { StoreOutage } from './store-outage.ts';

export interface FeedDeps {
  readonly bus: Pick<PubSub, 'subscribe' | 'onConnected' | 'isConnected'>;
  /** Resolves the current names of topics. */
  readonly directory: Pick<Directory, 'peekTopic' | 'topic'>;
  readonly history: History;
  readonly clock: Clock;
  readonly outage: StoreOutage;
  /** The memory for recent messages of all topics. */
  readonly recentBudget: RecentBudget;
  /** The offsets of messages at which streams reconnected, by ID. */
  readonly places: Map<string, Place & { readonly topicId: string }>;
}

/** Limits the memory for a burst while the store is slow. Beyond it the store is read again. */
const waitingMax = 10_000;
/** Records per read of the store. */
const fillPage = 500;
/** Messages per read for reconnecting streams. */
const resumePage = 500;
/** Limits concurrent reads for reconnecting streams, and for readers of the log. */
const resumesAtOnce = 20;
/**
 * The number of message IDs, of all topics, whose offsets are cached for streams that reconnect at the same message.
 */
const placesMax = 100_000;

/** The messages that a stream missed, in order. */
export interface ResumePage {
  readonly deliveries: readonly Delivery[];
  /** Whether no more messages follow. */
  readonly isLast: boolean;
}

/** The offset of a message and its validity. */
export type Place = Pick<StoredMessage, 'offset' | 'expiresAt'>;

/** A topic's newest message. */
export type Newest = Pick<StoredMessage, 'id' | 'offset' | 'expiresAt'>;

/** Keeps no text, because a node keeps the newest message of every topic. */
const withoutContent = ({ id, offset, expiresAt }: Newest): Newest => ({ id, offset, expiresAt });

/**
 * The state of one topic's live records on a node: the channel and the offset that every reader on this node has
 * reached. Envelopes are delivered in order, each once. If one does not directly follow, the records between are
 * read from the store first.
 */
export class TopicFeed {
  readonly topicId: string;
  readonly #deps: FeedDeps;
  readonly #place: Pick<Topic, 'id' | 'partition'>;
  readonly #listeners = new Set<(delivery: Delivery) => void>();
  #topicName: string;
  #subscribed: ChannelSubscription | undefined;
  #last = -1;
  /** The newest message in history at `#last`; null if history is empty, undefined if unknown. */
  #newest: Newest | null | undefined;
  #recent: RecentMessages;
  readonly #pageAfter: (offset: number) => Promise<ResumePage | undefined>;
  /** By the offset and the limit; undefined until the first use, because few topics have readers of the log. */
  #recordsFrom: ((page: string) => Promise<readonly TopicRecord[] | undefined>) | undefined;
  #waiting: Envelope[] = [];
  #isWorking = false;
  #isOpen = false;
  #mustFill = false;
  /** Up to this offset, the next read of the store finds all records. */
  #completeUpTo = -1;
  #closed = false;

  constructor(deps: FeedDeps, topic: Topic) {
    this.#deps = deps;
    this.topicId = topic.id;
    this.#place = { id: topic.id, partition: topic.partition };
    this.#topicName = topic.name;
    this.#recent = new RecentMessages(Infinity, deps.recentBudget);
    // Streams that reconnect together share reads, most of them from the same offset.
    this.#pageAfter = sharedReads((offset) => this.#readAfter(offset));
  }

  /** Subscribes first and reads the offset afterwards, so that no record is missed. Resolves when live. */
  async open(): Promise<void> {
    this.#isWorking = true;
    this.#subscribed = await subscribeLater(this.#deps.bus, topicChannel(this.topicId), (payload) =>
      this.#receive(payload),
    );
    this.#last = await this.#deps.history.completeUpTo(this.#place);
    this.#recent = new RecentMessages(this.#last, this.#deps.recentBudget);
    this.#isWorking = false;
    this.#isOpen = true;
    await this.#work();
  }

  get partition(): number {
    return this.#place.partition;
  }

  /** Whether the feed knows the offset from which it delivers. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** The offset up to which everything was delivered. */
  get last(): number {
    return this.#last;
  }

  /** Whether a required read of the store failed, so that missed records must still be backfilled. */
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

  /** The topic's name as known to this feed. */
  get topicName(): string {
    return this.#topicName;
  }

  /**
   * Returns the newest message in history, null if history is empty. Undefined if only the store knows it: the feed has
   * not received it, has not reached its offset, or it has expired.
   */
  newestAt(offset: number, now: number): Newest | null | undefined {
    if (offset > this.#last) return undefined;
    return this.#newest === null || (this.#newest?.expiresAt ?? 0) > now ? this.#newest : undefined;
  }

  /** Caches the store's newest message if it belongs to the feed's current offset. */
  noteNewest(offset: number, newest: Newest | null): void {
    if (offset === this.#last) this.#newest = newest === null ? null : withoutContent(newest);
  }

  /**
   * Returns the first messages after the offset as in history, at least up to the feed's offset at the time of the
   * call: from memory if possible. Throws `unavailable`.
   */
  async after(offset: number): Promise<ResumePage> {
    return (await this.#pageAfter(offset))!;
  }

  /**
   * Returns the first records from the offset as in history, and stops at a gap. Readers at the same offset share
   * reads. Throws `unavailable`.
   */
  async records(from: number, limit: number): Promise<readonly TopicRecord[]> {
    this.#recordsFrom ??= sharedReads((page) => {
      const [first, count] = page.split(':').map(Number) as [number, number];
      return this.#deps.history.records(this.#place, first, count);
    });
    return (await this.#recordsFrom(`${from}:${limit}`))!;
  }

  /**
   * Returns the offset of a recent message or one from which another stream resumed; undefined if only the store knows
   * it or the message has expired.
   */
  placeOf(messageId: string): number | undefined {
    const known = this.#deps.places.get(messageId);
    const place = known?.topicId === this.topicId ? known : this.#recent.find(messageId);
    return place !== undefined && place.expiresAt > this.#deps.clock() ? place.offset : undefined;
  }

  /** Caches the offset of a message for streams that reconnect at the same message. */
  notePlace(messageId: string, place: Place): void {
    const { places } = this.#deps;
    if (places.size >= placesMax) places.clear();
    places.set(messageId, { ...place, topicId: this.topicId });
  }

  /**
   * Backfills from the store what publish/subscribe did not deliver, at least up to the offset. Never rejects: the next
   * call retries failures.
   */
  async fill(upTo: number): Promise<void> {
    this.#mustFill = true;
    this.#completeUpTo = Math.max(this.#completeUpTo, upTo);
    await this.#work();
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#deps.outage.over(this.topicId);
    this.#listeners.clear();
    this.#recent.clear();
    await this.#subscribed?.close().catch(() => undefined); // an unavailable server has dropped the subscription anyway
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

  /** Delivers queued records in order. Runs once at a time and includes records that arrive meanwhile. */
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
        // A change contains the message's offset, which only the store knows.
        const isNext = envelope.previousOffset === null || envelope.previousOffset <= this.#last;
        if (!isNext || envelope.record.type !== 'message') await this.#readStore();
        if (envelope.offset > this.#last) this.#handOn(envelope);
      }
      this.#deps.outage.over(this.topicId);
    } catch (error) {
      // This drops the envelope that caused the read: now only the store has it.
      this.#mustFill = true;
      if (!this.#closed) this.#deps.outage.failed(this.topicId, error);
    } finally {
      this.#isWorking = false;
    }
  }

  /**
   * After a rename is reported, all later publishes have the new name: the change is published before
   * the record and invalidates the cached topic here.
   */
  async #learnName(): Promise<void> {
    const { directory } = this.#deps;
    const topic = directory.peekTopic(this.topicId) ?? (await directory.topic(this.topicId).catch(() => null));
    if (topic !== null) this.#topicName = topic.name;
  }

  async #readAfter(offset: number): Promise<ResumePage> {
    if (this.#recent.reaches(offset)) {
      return {
        deliveries: this.#recent.after(offset, { now: this.#deps.clock(), topicName: this.#topicName }),
        isLast: true,
      };
    }
    const last = this.#last;
    const page = await this.#deps.history.after(this.#place, offset, resumePage);
    const isLast = page.length < resumePage;
    // A concurrent record may have changed a message of the page: then the next reader loads it.
    if (isLast && this.#last === last) this.#recent.extend(offset, page, this.#topicName);
    return { deliveries: page.map((message) => messageDelivery(message, this.#topicName)), isLast };
  }

  async #readStore(): Promise<void> {
    await this.#learnName();
    const completeUpTo = this.#completeUpTo;
    for (;;) {
      const page = await this.#deps.history.records(this.#place, this.#last + 1, fillPage);
      for (const record of page) this.#deliver(record);
      if (page.length < fillPage || this.#closed) break;
    }
    // Records that the store does not show, such as expired ones, have been passed.
    this.#last = Math.max(this.#last, completeUpTo);
  }

  #handOn({ offset, record }: Envelope): void {
    if (record.type === 'message') this.#deliver({ offset, type: record.type, message: { ...record.message, offset } });
    // The store no longer shows the change because its message has expired.
    else this.#last = offset;
  }

  #deliver(record: Pick<TopicRecord, 'offset' | 'type' | 'message'>): void {
    this.#last = record.offset;
    if (record.type === 'message' && !record.message.isDeleted) this.#newest = withoutContent(record.message);
    else if (record.message.id === this.#newest?.id) this.#newest = undefined;
    if (record.type !== 'message') this.#recent.change(record.message, this.#topicName);
    // Deleted since: the deletion arrives as a separate record.
    if (record.type === 'message' && record.message.isDeleted) return;
    const delivery = recordDelivery(record, this.#topicName);
    if (record.type === 'message') this.#recent.add(record.message, delivery);
    for (const listener of this.#listeners) listener(delivery);
  }
}

/** Calls for the same key in one tick, or during a read, share the next read. */
function sharedReads<K, V>(read: (key: K) => Promise<V>): (key: K) => Promise<V | undefined> {
  return batchLoader(
    async (keys) => new Map(await Promise.all(keys.map(async (key) => [key, await read(key)] as const))),
    resumesAtOnce,
  );
}
