import { setTimeout as pause } from 'node:timers/promises';
import type { StoredMessage } from '../../domain/messages/message.ts';
import type { Topic } from '../../domain/topics/topic.ts';
import type { Messages, TopicRecord } from '../../ports/messages.ts';
import { readTogether } from '../../async/read-together.ts';

type TopicPlace = Pick<Topic, 'id' | 'partition'>;

/** How long a read waits for the watermark: longer than a fan-out that runs needs, short enough to answer without one. */
const watermarkWaitMs = 1_000;
/** Topics or messages looked up at once: the port's limit. */
const lookupsMax = 1_000;

/**
 * Reads of a topic that never step over a hole.
 *
 * Documents of two publishers can arrive in the other order than their records. A read whose newest message lies above
 * the partition's watermark therefore waits for the watermark, one second at most; after that a read that someone will
 * go on from stops at the watermark, and one that nobody goes on from returns everything.
 */
export class History {
  readonly #messages: Messages;
  readonly #clock: () => number;
  /** The highest watermark seen per partition: it only grows, so an old one is safe. */
  readonly #seen = new Map<number, number>();
  readonly #lastOffset: (topicId: string) => Promise<number | undefined>;
  readonly #newest: (topicId: string) => Promise<StoredMessage | undefined>;
  readonly #find: (messageId: string) => Promise<StoredMessage | undefined>;
  readonly #storedWatermark: (partition: number) => Promise<number | undefined>;

  constructor(messages: Messages, clock: () => number) {
    this.#messages = messages;
    this.#clock = clock;
    // Streams of many topics, and streams that come back all at once, ask for the same things together.
    this.#lastOffset = readTogether((topicIds) => messages.lastOffsets(topicIds), lookupsMax);
    this.#newest = readTogether((topicIds) => messages.newestOfEach(topicIds, clock()), lookupsMax);
    this.#find = readTogether(
      async (ids) => new Map((await messages.findMany(ids)).map((message) => [message.id, message])),
      lookupsMax,
    );
    this.#storedWatermark = readTogether(
      async (partitions) =>
        new Map(await Promise.all(partitions.map(async (one) => [one, await messages.watermark(one)] as const))),
      lookupsMax,
    );
  }

  /** The message, also a deleted or expired one, or null. */
  async find(messageId: string): Promise<StoredMessage | null> {
    return (await this.#find(messageId)) ?? null;
  }

  /** The newest message that history shows of the topic, holes or not, or null. */
  async newestMessage(topicId: string): Promise<StoredMessage | null> {
    return (await this.#newest(topicId)) ?? null;
  }

  /** Position of the topic's last record, whatever became of its message; -1 when there is none. */
  async lastOffset(topicId: string): Promise<number> {
    return (await this.#lastOffset(topicId)) ?? -1;
  }

  /** The newest `limit` messages, oldest first: everything that was acknowledged, holes or not. */
  async newest(topic: TopicPlace, limit: number): Promise<StoredMessage[]> {
    const page = { limit, now: this.#clock() };
    const watermark = await this.watermark(topic.partition);
    const first = await this.#messages.newest(topic.id, page);
    const top = first.at(-1)?.offset ?? -1;
    if (top <= watermark) return first;
    await this.waitForWatermark(topic.partition, top);
    return this.#messages.newest(topic.id, page);
  }

  /** The first `limit` messages behind the position, oldest first, never past a hole. */
  async after(topic: TopicPlace, after: number, limit: number): Promise<StoredMessage[]> {
    const now = this.#clock();
    return this.#belowWatermark(topic.partition, (upTo) => this.#messages.after(topic.id, { after, upTo, limit, now }));
  }

  /** The first `limit` records from the position on, never past a hole. */
  async records(topic: TopicPlace, from: number, limit: number): Promise<TopicRecord[]> {
    const now = this.#clock();
    return this.#belowWatermark(topic.partition, (upTo) =>
      this.#messages.records(topic.id, { from, upTo, limit, now }),
    );
  }

  /**
   * The lowest position of a record of the topic made at or after the time, or null. `settled` is a position up to which
   * that is certain: from there on a record of that time may still come.
   */
  async offsetAtTime(topic: TopicPlace, time: number): Promise<{ offset: number | null; settled: number }> {
    const settled = await this.watermark(topic.partition);
    const offset = await this.#messages.offsetAtTime(topic.id, time);
    if (offset === null || offset <= settled) return { offset, settled };
    const reached = await this.waitForWatermark(topic.partition, offset);
    return { offset: await this.#messages.offsetAtTime(topic.id, time), settled: reached };
  }

  /** Position up to which the partition has no holes, from the store. */
  async watermark(partition: number): Promise<number> {
    const current = Math.max((await this.#storedWatermark(partition)) ?? -1, this.#seen.get(partition) ?? -1);
    this.#seen.set(partition, current);
    return current;
  }

  /** The topic's last position below which there is certainly no hole; lower than its last record only while the watermark is late. */
  async settledTop(topic: TopicPlace): Promise<number> {
    const last = await this.lastOffset(topic.id);
    return Math.min(last, await this.waitForWatermark(topic.partition, last));
  }

  /** Resolves with the watermark once it has reached the position, or after a second. */
  async waitForWatermark(partition: number, offset: number): Promise<number> {
    const deadline = performance.now() + watermarkWaitMs;
    const seen = this.#seen.get(partition) ?? -1;
    let current = seen >= offset ? seen : await this.watermark(partition);
    for (let waitMs = 2; current < offset && performance.now() < deadline; waitMs = Math.min(waitMs * 2, 50)) {
      await pause(waitMs);
      current = await this.watermark(partition);
    }
    return current;
  }

  /**
   * The watermark counts as it was before the read: one that is read afterwards may have moved over a hole that the read
   * still saw.
   */
  async #belowWatermark<T extends { readonly offset: number }>(
    partition: number,
    read: (upTo: number) => Promise<T[]>,
  ): Promise<T[]> {
    const watermark = await this.watermark(partition);
    const first = await read(Number.MAX_SAFE_INTEGER);
    const top = first.at(-1)?.offset ?? -1;
    return top <= watermark ? first : read(await this.waitForWatermark(partition, top));
  }
}
