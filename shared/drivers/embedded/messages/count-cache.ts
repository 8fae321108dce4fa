import type { TopicMark } from '../../../ports/messages/message-reads.ts';

/** The number of messages after a mark, valid until the topic changes. */
export interface Count {
  readonly count: number;
  /** When the first counted message expires, in milliseconds since the epoch, or Infinity. */
  readonly until: number;
}

interface CachedCount extends Count {
  /** The counted mark. */
  readonly max: number;
  readonly now: number;
}

type Page = Pick<CachedCount, 'max' | 'now'>;

/** About two megabytes. Limits the memory for unused marks. */
const cachedMax = 20_000;

/**
 * Caches counts of messages after marks until a mark's topic changes. Writers must call `changed` for a topic, or
 * `clear`.
 */
export class CountCache {
  readonly #topics = new Map<string, Map<number, CachedCount>>();
  #size = 0;

  get({ topicId, after }: TopicMark, { max, now }: Page): number | undefined {
    const cached = this.#topics.get(topicId)?.get(after);
    return cached !== undefined && cached.max === max && cached.now <= now && now < cached.until
      ? cached.count
      : undefined;
  }

  /** Call before counting. Returns a function that stores the count, unless the topic has changed since the call. */
  place({ topicId, after }: TopicMark, page: Page): (count: Count) => void {
    let ofTopic = this.#topics.get(topicId);
    if (ofTopic === undefined) this.#topics.set(topicId, (ofTopic = new Map<number, CachedCount>()));
    return (count) => {
      if (this.#topics.get(topicId) !== ofTopic) return;
      if (!ofTopic.has(after)) this.#size += 1;
      ofTopic.set(after, { ...count, ...page });
      if (this.#size >= cachedMax) this.clear();
    };
  }

  changed(topicId: string): void {
    this.#size -= this.#topics.get(topicId)?.size ?? 0;
    this.#topics.delete(topicId);
  }

  clear(): void {
    this.#topics.clear();
    this.#size = 0;
  }
}
