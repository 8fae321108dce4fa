import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import type { Logger } from '@tocsin/shared/platform/logger.ts';
import { FanOutWatch } from './fanout-watch.ts';
import { PartitionChecks } from './partition-checks.ts';
import { RecentBudget } from './recent-budget.ts';
import { storeOutage } from './store-outage.ts';
import { TopicFeed, type FeedDeps } from './topic-feed.ts';

/** How often to look for lost records of the partitions whose fan-out is silent; nodes differ by up to 20 %. */
const checkMs = 500;
/** How often to look although the fan-out sends beats. */
const safetyCheckMs = 25_000;
/** Beats are missing for a moment after a start or a rebalance. */
const warnAfterMs = 5_000;
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

/**
 * The feeds of topics with readers on this node: one each, opened by the first reader and closed by the last. Records
 * that publish/subscribe loses are read from the store: within 0.6 s if the fan-out reports the loss, within 2.1 s if
 * it is silent, and at most 0.6 s late while it stays silent.
 */
export class TopicFeeds {
  readonly #deps: FeedDeps;
  readonly #log: Logger;
  readonly #entries = new Map<string, Entry>();
  readonly #partitions = new Map<number, Set<TopicFeed>>();
  readonly #watch: FanOutWatch;
  readonly #checks: PartitionChecks;
  readonly #toCheck = new Set<number>();
  readonly #stopListening: () => void;
  readonly #toFill = new Map<TopicFeed, number>();
  #timer: NodeJS.Timeout | undefined;
  #lastSafetyCheckAt = performance.now();
  #silentSince: number | null = null;
  #hasWarned = false;
  #fillsUnderWay = 0;

  constructor(deps: Omit<FeedDeps, 'outage' | 'recentBudget' | 'places'> & { readonly log: Logger }) {
    this.#deps = {
      ...deps,
      outage: storeOutage(deps.log, deps.clock),
      recentBudget: new RecentBudget(recentBytesMax),
      places: new Map(),
    };
    this.#log = deps.log;
    this.#watch = new FanOutWatch(deps.bus, (partition) => this.#toCheck.add(partition));
    this.#checks = new PartitionChecks({
      history: deps.history,
      outage: this.#deps.outage,
      feedsOf: (partition) => [...(this.#partitions.get(partition) ?? [])].filter(({ isOpen }) => isOpen),
      fill: (feed, upTo) => this.#fill(feed, upTo),
    });
    this.#stopListening = deps.bus.onConnected(() => this.#watch.forget());
    this.#scheduleCheck();
  }

  /** The partitions with readers on this node whose fan-out sends no beats. */
  get silentPartitions(): number {
    return [...this.#partitions.keys()].filter((partition) => !this.#watch.hears(partition)).length;
  }

  /** Resolves with the topic's feed once it is live. Throws `unavailable` if the store cannot return its offset. */
  async use(topic: Topic): Promise<FeedUse> {
    const entry = this.#entries.get(topic.id) ?? this.#open(topic);
    entry.users += 1;
    const use = this.#useOf(entry);
    try {
      await Promise.all([this.#watch.start(), entry.opened]);
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
    clearTimeout(this.#timer);
    this.#stopListening();
    const feeds = this.#feeds();
    this.#entries.clear();
    this.#partitions.clear();
    await Promise.all([this.#watch.close(), ...feeds.map((feed) => feed.close())]);
  }

  #open(topic: Topic): Entry {
    const feed = new TopicFeed(this.#deps, topic);
    const opened = feed.open().then(() => this.#checks.forget(feed.partition));
    const entry = { feed, opened, users: 0 };
    this.#entries.set(topic.id, entry);
    const feeds = this.#partitions.get(feed.partition);
    if (feeds === undefined) this.#partitions.set(feed.partition, new Set([feed]));
    else feeds.add(feed);
    return entry;
  }

  #useOf(entry: Entry): FeedUse {
    const { feed } = entry;
    let isReleased = false;
    return {
      feed,
      release: () => {
        if (isReleased) return;
        isReleased = true;
        entry.users -= 1;
        if (entry.users > 0) return;
        if (this.#entries.get(feed.topicId) === entry) this.#entries.delete(feed.topicId);
        const feeds = this.#partitions.get(feed.partition);
        feeds?.delete(feed);
        if (feeds?.size === 0) this.#partitions.delete(feed.partition);
        void entry.opened.catch(() => undefined).then(() => feed.close());
      },
    };
  }

  #scheduleCheck(): void {
    this.#timer = setTimeout(
      () => {
        this.#check();
        this.#scheduleCheck();
      },
      checkMs * (0.8 + 0.4 * Math.random()),
    );
    this.#timer.unref();
  }

  #check(): void {
    const now = performance.now();
    for (const feed of this.#feeds()) if (feed.isBehind) this.#fill(feed, -1);
    const isSafetyCheck = now - this.#lastSafetyCheckAt >= safetyCheckMs;
    if (isSafetyCheck) this.#lastSafetyCheckAt = now;
    for (const partition of this.#partitions.keys()) {
      if (isSafetyCheck || this.#toCheck.has(partition) || !this.#watch.hears(partition))
        void this.#checks.check(partition);
    }
    this.#toCheck.clear();
    this.#report(now);
  }

  #report(now: number): void {
    const partitions = this.silentPartitions;
    if (partitions === 0) {
      if (this.#hasWarned) this.#log.info('the fan-out sends beats again');
      this.#silentSince = null;
      this.#hasWarned = false;
      return;
    }
    this.#silentSince ??= now;
    if (this.#hasWarned || now - this.#silentSince < warnAfterMs) return;
    this.#hasWarned = true;
    this.#log.warn({ partitions }, 'the fan-out sends no beats, streams read the store');
  }

  #feeds(): TopicFeed[] {
    return [...this.#entries.values()].map(({ feed }) => feed);
  }

  /** A waiting feed is queued once; a feed that is being backfilled checks again without blocking others. */
  #fill(feed: TopicFeed, upTo: number): void {
    this.#toFill.set(feed, Math.max(upTo, this.#toFill.get(feed) ?? -1));
    if (this.#fillsUnderWay < fillsAtOnce) void this.#fillQueued();
  }

  async #fillQueued(): Promise<void> {
    this.#fillsUnderWay += 1;
    for (const [feed, upTo] of this.#toFill) {
      this.#toFill.delete(feed);
      await feed.fill(upTo);
    }
    this.#fillsUnderWay -= 1;
  }
}
