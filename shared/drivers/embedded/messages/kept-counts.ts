import type { TopicMark } from '../../../ports/messages.ts';

/** How many messages come after a mark, as long as nothing is written to the topic. */
export interface Count {
  readonly count: number;
  /** When the first of them expires, milliseconds since the epoch; Infinity without one. */
  readonly until: number;
}

interface KeptCount extends Count {
  /** What it was counted for. */
  readonly max: number;
  readonly now: number;
}

type Page = Pick<KeptCount, 'max' | 'now'>;

/** A megabyte or two. Harm prevented: marks that nobody asks for again filling the memory. */
const keptMax = 20_000;

/**
 * Counts of messages after marks, kept until something is written to the topic of a mark. Whoever writes says so: `changed` for a
 * topic, `forget` for all.
 */
export class KeptCounts {
  readonly #topics = new Map<string, Map<number, KeptCount>>();
  #size = 0;

  get({ topicId, after }: TopicMark, { max, now }: Page): number | undefined {
    const kept = this.#topics.get(topicId)?.get(after);
    return kept !== undefined && kept.max === max && kept.now <= now && now < kept.until ? kept.count : undefined;
  }

  /** To be called before the messages are counted; what it returns takes the count, and keeps it unless the topic was written to meanwhile. */
  place({ topicId, after }: TopicMark, page: Page): (count: Count) => void {
    let ofTopic = this.#topics.get(topicId);
    if (ofTopic === undefined) this.#topics.set(topicId, (ofTopic = new Map<number, KeptCount>()));
    return (count) => {
      if (this.#topics.get(topicId) !== ofTopic) return;
      if (!ofTopic.has(after)) this.#size += 1;
      ofTopic.set(after, { ...count, ...page });
      if (this.#size >= keptMax) this.forget();
    };
  }

  changed(topicId: string): void {
    this.#size -= this.#topics.get(topicId)?.size ?? 0;
    this.#topics.delete(topicId);
  }

  forget(): void {
    this.#topics.clear();
    this.#size = 0;
  }
}
