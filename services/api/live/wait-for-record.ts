import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import type { OpenWaits } from './open-waits.ts';
import type { TopicFeed } from './topic-feed.ts';
import type { TopicFeeds } from './topic-feeds.ts';

/** A read that other readers of the topic may share. */
export type FeedRead<T> = (feed: Pick<TopicFeed, 'records'>) => Promise<T>;

/**
 * Reads again whenever the topic gets a record, until the result is enough, the time is over, the client disconnects
 * or the node stops. Resolves with the last result.
 */
export async function waitForRecord<T>(
  { feeds, waits }: { feeds: TopicFeeds; waits: OpenWaits },
  topic: Topic,
  options: { waitMs: number; read: FeedRead<T>; isEnough: (result: T) => boolean; closed: NodeJS.EventEmitter },
): Promise<T> {
  const use = await feeds.use(topic);
  let wake: () => void = () => undefined;
  let isOver = false;
  const end = () => {
    isOver = true;
    wake();
  };
  const stopListening = use.feed.listen(() => wake());
  const timer = setTimeout(end, options.waitMs);
  options.closed.once('close', end);
  const remove = waits.add(end);
  try {
    for (;;) {
      const woken = new Promise<void>((resolve) => (wake = resolve));
      const found = await options.read(use.feed);
      if (options.isEnough(found) || isOver) return found;
      await woken;
      if (isOver) return await options.read(use.feed);
    }
  } finally {
    clearTimeout(timer);
    options.closed.off('close', end);
    remove();
    stopListening();
    use.release();
  }
}
