import { setTimeout as pause } from 'node:timers/promises';
import type { StoredMessage } from '../../domain/messages/message.ts';
import type { Topic } from '../../domain/topics/topic.ts';
import type {
  MessageReads,
  RecordCountRequest,
  RecordCounts,
  TopicRecord,
} from '../../ports/messages/message-reads.ts';
import type { MessageIngest } from '../../ports/messages/message-ingest.ts';
import { batchLoader } from '../../async/batch-loader.ts';

type TopicPlace = Pick<Topic, 'id' | 'partition'>;

/** How long a read waits for the watermark: longer than a running fan-out needs, and acceptable if no fan-out runs. */
const watermarkWaitMs = 1_000;
/** Topics or messages per lookup: the port's limit. */
const idsPerLookup = 1_000;

/** Pollers of a log share the read of its first record for this long, unless it expires before. */
const earliestMs = 2_000;
/** Limits the memory for the first records. */
const earliestMax = 10_000;

type HistoryReads = MessageReads & Pick<MessageIngest, 'watermark'>;

/**
 * Topic reads that never skip a gap.
 *
 * Messages of two publishers can be stored in a different order than their records. If the newest message of a read is
 * above the partition's watermark, the read waits up to one second for the watermark. If the watermark is still lower,
 * a resumable read stops there, and other reads return everything.
 */
export class History {
  readonly #messages: HistoryReads;
  readonly #clock: () => number;
  /** The highest watermark seen per partition. It never decreases, so a stale value is safe. */
  readonly #seen = new Map<number, number>();
  readonly #lastOffset: (topicId: string) => Promise<number | undefined>;
  readonly #newest: (topicId: string) => Promise<StoredMessage | undefined>;
  readonly #find: (messageId: string) => Promise<StoredMessage | undefined>;
  readonly #storedWatermark: (partition: number) => Promise<number | undefined>;
  readonly #lastLost: (range: string) => Promise<number | null | undefined>;
  /** The first record of topics whose logs were read lately, and until when it is used. */
  readonly #earliest = new Map<string, { readonly offset: number; readonly until: number }>();

  constructor(messages: HistoryReads, clock: () => number) {
    this.#messages = messages;
    this.#clock = clock;
    // Streams of many topics, and streams that reconnect at the same time, share lookups.
    this.#lastOffset = batchLoader((topicIds) => messages.lastOffsets(topicIds), idsPerLookup);
    this.#newest = batchLoader((topicIds) => messages.newestOfEach(topicIds, clock()), idsPerLookup);
    this.#find = batchLoader(
      async (ids) => new Map((await messages.findMany(ids)).map((message) => [message.id, message])),
      idsPerLookup,
    );
    this.#storedWatermark = batchLoader(
      async (partitions) =>
        new Map(await Promise.all(partitions.map(async (one) => [one, await messages.watermark(one)] as const))),
      idsPerLookup,
    );
    // Readers that follow a topic ask for the same range at the same time.
    this.#lastLost = batchLoader(
      async (ranges) =>
        new Map(
          await Promise.all(
            ranges.map(async (range) => {
              const [topicId, from, before, now] = JSON.parse(range) as [string, number, number, number | null];
              return [range, await messages.lastLost(topicId, { from, before, now: now ?? clock() })] as const;
            }),
          ),
        ),
      idsPerLookup,
    );
  }

  /**
   * Returns the offset of the topic's first record that can be read, or null. Can be up to two seconds old if the
   * lifetime of messages was changed.
   */
  async earliestOffset(topicId: string): Promise<number | null> {
    const now = this.#clock();
    const known = this.#earliest.get(topicId);
    if (known !== undefined && now < known.until) return known.offset;
    const page = { from: 0, upTo: Number.MAX_SAFE_INTEGER, limit: 1, now };
    const [first] = await this.#messages.records(topicId, page);
    this.#earliest.delete(topicId);
    if (first === undefined) return null;
    if (this.#earliest.size >= earliestMax) this.#earliest.clear();
    this.#earliest.set(topicId, {
      offset: first.offset,
      until: Math.min(first.message.expiresAt, now + earliestMs),
    });
    return first.offset;
  }

  /** Like `lastLost` of the port. */
  async lastLost(
    topicId: string,
    { from, before, now = null }: { from: number; before: number; now?: number | null },
  ): Promise<number | null> {
    return (await this.#lastLost(JSON.stringify([topicId, from, before, now]))) ?? null;
  }

  /** Like `countRecords` of the port. */
  countRecords(topicId: string, of: Omit<RecordCountRequest, 'now'> & { now?: number }): Promise<RecordCounts> {
    return this.#messages.countRecords(topicId, { now: this.#clock(), ...of });
  }

  /** Returns the message, even if deleted or expired, or null. */
  async find(messageId: string): Promise<StoredMessage | null> {
    return (await this.#find(messageId)) ?? null;
  }

  /** Returns the newest message in the topic's history, regardless of gaps, or null. */
  async newestMessage(topicId: string): Promise<StoredMessage | null> {
    return (await this.#newest(topicId)) ?? null;
  }

  /** Returns the offset of the topic's last record, even if its message was removed; -1 for an empty topic. */
  async lastOffset(topicId: string): Promise<number> {
    return (await this.#lastOffset(topicId)) ?? -1;
  }

  /** Returns the newest `limit` messages, oldest first: everything acknowledged, regardless of gaps. */
  async newest(topic: TopicPlace, limit: number): Promise<StoredMessage[]> {
    const page = { limit, now: this.#clock() };
    const watermark = await this.watermark(topic.partition);
    const first = await this.#messages.newest(topic.id, page);
    const top = first.at(-1)?.offset ?? -1;
    if (top <= watermark) return first;
    await this.waitForWatermark(topic.partition, top);
    return this.#messages.newest(topic.id, page);
  }

  /** Returns the first `limit` messages after the offset, oldest first, and stops at a gap. */
  async after(topic: TopicPlace, after: number, limit: number): Promise<StoredMessage[]> {
    const now = this.#clock();
    return this.#belowWatermark(topic.partition, (upTo) => this.#messages.after(topic.id, { after, upTo, limit, now }));
  }

  /** Returns the first `limit` records from the offset, and stops at a gap. `now`: the time that decides on expiry. */
  async records(topic: TopicPlace, from: number, limit: number, now = this.#clock()): Promise<TopicRecord[]> {
    return this.#belowWatermark(topic.partition, (upTo) =>
      this.#messages.records(topic.id, { from, upTo, limit, now }),
    );
  }

  /**
   * Returns the lowest offset of a record of the topic made at or after the time, or null. `settled` is the offset up
   * to which this is certain: later records may still have that time.
   */
  async offsetAtTime(topic: TopicPlace, time: number): Promise<{ offset: number | null; settled: number }> {
    const settled = await this.watermark(topic.partition);
    const offset = await this.#messages.offsetAtTime(topic.id, time);
    if (offset === null || offset <= settled) return { offset, settled };
    const reached = await this.waitForWatermark(topic.partition, offset);
    return { offset: await this.#messages.offsetAtTime(topic.id, time), settled: reached };
  }

  /** Reads the offset up to which the partition has no gaps, inclusive. */
  async watermark(partition: number): Promise<number> {
    const current = Math.max((await this.#storedWatermark(partition)) ?? -1, this.#seen.get(partition) ?? -1);
    this.#seen.set(partition, current);
    return current;
  }

  /**
   * Returns the topic's last offset up to which it has no gaps. Lower than its last record only while the watermark is
   * delayed.
   */
  async completeUpTo(topic: TopicPlace): Promise<number> {
    const last = await this.lastOffset(topic.id);
    return Math.min(last, await this.waitForWatermark(topic.partition, last));
  }

  /** Resolves with the watermark once it has reached the offset, or after a second. */
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

  /** Uses the watermark from before the read: a later one may be past a gap that the read still had. */
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
