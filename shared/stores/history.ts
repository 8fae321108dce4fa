import { setTimeout as pause } from 'node:timers/promises';
import type { StoredMessage } from '../domain/message.ts';
import type { Topic } from '../domain/topic.ts';
import type { Messages, TopicRecord } from '../ports/messages.ts';

type TopicPlace = Pick<Topic, 'id' | 'partition'>;

/** How long a read waits for the watermark: longer than a fan-out that runs needs, short enough to answer without one. */
const watermarkWaitMs = 1_000;

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

  constructor(messages: Messages, clock: () => number) {
    this.#messages = messages;
    this.#clock = clock;
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
    return this.#belowWatermark(topic.partition, (upTo) => this.#messages.records(topic.id, { from, upTo, limit, now }));
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
    const current = Math.max(await this.#messages.watermark(partition), this.#seen.get(partition) ?? -1);
    this.#seen.set(partition, current);
    return current;
  }

  /**
   * Where a reader goes on that wants nothing of the past: `last` is the topic's last record, `settled` the position up
   * to which there are certainly no holes, lower than `last` only while the watermark is late.
   */
  async top(topic: TopicPlace): Promise<{ last: number; settled: number }> {
    const last = await this.#messages.lastOffset(topic.id);
    const watermark = await this.waitForWatermark(topic.partition, last);
    return { last, settled: Math.min(last, watermark) };
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
  async #belowWatermark<T extends { readonly offset: number }>(partition: number, read: (upTo: number) => Promise<T[]>): Promise<T[]> {
    const watermark = await this.watermark(partition);
    const first = await read(Number.MAX_SAFE_INTEGER);
    const top = first.at(-1)?.offset ?? -1;
    return top <= watermark ? first : read(await this.waitForWatermark(partition, top));
  }
}
