import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import type { Logger } from '@tocsin/shared/platform/logger.ts';
import { RecentBudget } from './recent-budget.ts';
import { storeOutage } from './store-outage.ts';
import { TopicFeed, type FeedDeps } from './topic-feed.ts';

/** How often to read the store for lost records: while publish/subscribe is unavailable, and otherwise (a lost last message). */
const backfillMs = 500;
const connectedHealMs = 25_000;
/** Publishing processes reconnect at other times than this node: for this long after a reconnect publish/subscribe is not trusted. */
const distrustMs = 10_000;
/** Topics backfilled concurrently, so that thousands of reads do not delay others. */
const fillsAtOnce = 20;

/** The memory of a node for recent messages of all topics. */
const recentBytesMax = 64 * 1024 * 1024;

interface Entry {
  readonly feed: TopicFeed;
  readonly opened: Promise<void>;
  users: number;
}

/** A topic's feed in use on this node. */
export interface FeedUse {
  readonly feed: TopicFeed;
  release(): void;
}

/** The feeds of topics with readers on this node: one each, opened by the first reader and closed by the last. */
export class TopicFeeds {
  readonly #deps: FeedDeps;
  readonly #entries = new Map<string, Entry>();
  readonly #timer: NodeJS.Timeout;
  readonly #stopListening: () => void;
  #lastHealAt = performance.now();
  #distrustedUntil = -Infinity;
  readonly #toFill = new Set<TopicFeed>();
  #fillsUnderWay = 0;

  constructor(deps: Omit<FeedDeps, 'outage' | 'recentBudget'> & { readonly log: Logger }) {
    this.#deps = {
      ...deps,
      outage: storeOutage(deps.log, deps.clock),
      recentBudget: new RecentBudget(recentBytesMax),
    };
    this.#timer = setInterval(() => this.#backfill(), backfillMs);
    this.#timer.unref();
    this.#stopListening = deps.bus.onConnected(() => {
      this.#distrustedUntil = performance.now() + distrustMs;
      this.#fill(this.#feeds());
    });
  }

  /** Resolves with the topic's feed once it is live. Throws `unavailable` if the store cannot return its offset. */
  async use(topic: Topic): Promise<FeedUse> {
    let entry = this.#entries.get(topic.id);
    if (entry === undefined) {
      const feed = new TopicFeed(this.#deps, topic);
      entry = { feed, opened: feed.open(), users: 0 };
      this.#entries.set(topic.id, entry);
    }
    entry.users += 1;
    const use = this.#useOf(entry);
    try {
      await entry.opened;
    } catch (error) {
      use.release();
      throw error;
    }
    return use;
  }

  /** Returns the topic's feed if it is live on this node. */
  peek(topicId: string): TopicFeed | undefined {
    return this.#entries.get(topicId)?.feed;
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#stopListening();
    const feeds = this.#feeds();
    this.#entries.clear();
    await Promise.all(feeds.map((feed) => feed.close()));
  }

  #useOf(entry: Entry): FeedUse {
    let isReleased = false;
    return {
      feed: entry.feed,
      release: () => {
        if (isReleased) return;
        isReleased = true;
        entry.users -= 1;
        if (entry.users > 0) return;
        if (this.#entries.get(entry.feed.topicId) === entry) this.#entries.delete(entry.feed.topicId);
        void entry.opened.catch(() => undefined).then(() => entry.feed.close());
      },
    };
  }

  #backfill(): void {
    const now = performance.now();
    const isTrusted = this.#deps.bus.isConnected && now >= this.#distrustedUntil;
    if (isTrusted && now - this.#lastHealAt < connectedHealMs) {
      this.#fill(this.#feeds().filter((feed) => feed.isBehind));
      return;
    }
    this.#lastHealAt = now;
    this.#fill(this.#feeds());
  }

  #feeds(): TopicFeed[] {
    return [...this.#entries.values()].map(({ feed }) => feed);
  }

  /** A waiting feed is queued once; a feed that is being backfilled checks again without blocking others. */
  #fill(feeds: readonly TopicFeed[]): void {
    for (const feed of feeds) this.#toFill.add(feed);
    while (this.#fillsUnderWay < fillsAtOnce && this.#toFill.size > 0) void this.#fillQueued();
  }

  async #fillQueued(): Promise<void> {
    this.#fillsUnderWay += 1;
    for (const feed of this.#toFill) {
      this.#toFill.delete(feed);
      await feed.fill();
    }
    this.#fillsUnderWay -= 1;
  }
}
