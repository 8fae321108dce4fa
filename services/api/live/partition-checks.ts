import type { History } from '@tocsin/shared/operations/messages/history.ts';
import type { StoreOutage } from './store-outage.ts';
import type { TopicFeed } from './topic-feed.ts';

export interface PartitionChecksDeps {
  readonly history: Pick<History, 'watermark' | 'lastOffset'>;
  readonly outage: StoreOutage;
  /** Returns the open feeds of the partition. */
  readonly feedsOf: (partition: number) => readonly TopicFeed[];
  /** Reads the topic's records up to the offset from the store. */
  readonly fill: (feed: TopicFeed, upTo: number) => void;
}

/**
 * Finds the topics of a partition whose records did not reach this node. A check reads the partition's watermark; only
 * if it moved since the last check, it also reads the last offsets of the topics, up to 1,000 topics per read.
 */
export class PartitionChecks {
  readonly #deps: PartitionChecksDeps;
  /** The watermark with which the feeds of a partition were last compared. */
  readonly #checked = new Map<number, number>();
  readonly #running = new Set<number>();
  /** Partitions to check again after the running check, which may have read an older watermark. */
  readonly #again = new Set<number>();

  constructor(deps: PartitionChecksDeps) {
    this.#deps = deps;
  }

  /** Has all feeds of the partition compared again: one was opened. */
  forget(partition: number): void {
    this.#checked.delete(partition);
  }

  /** Never rejects: the next check retries. */
  async check(partition: number): Promise<void> {
    if (this.#running.has(partition)) return void this.#again.add(partition);
    this.#running.add(partition);
    const { outage } = this.#deps;
    const place = `partition ${partition}`;
    try {
      await this.#compare(partition);
      outage.over(place);
    } catch (error) {
      this.#checked.delete(partition);
      outage.failed(place, error);
    } finally {
      this.#running.delete(partition);
      if (this.#again.delete(partition)) void this.check(partition);
    }
  }

  async #compare(partition: number): Promise<void> {
    const { history, feedsOf, fill } = this.#deps;
    const watermark = await history.watermark(partition);
    if (this.#checked.get(partition) === watermark) return;
    this.#checked.set(partition, watermark); // before the reads: a feed that opens meanwhile forgets it
    await Promise.all(
      feedsOf(partition).map(async (feed) => {
        const upTo = Math.min(await history.lastOffset(feed.topicId), watermark);
        if (upTo > feed.last) fill(feed, upTo);
      }),
    );
  }
}
