import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import type { OpenWaits } from './open-waits.ts';
import type { TopicFeeds } from './topic-feeds.ts';

/**
 * Reads again whenever the topic gets a record, until the read has a result, the time is over, the client disconnects
 * or the node stops. Resolves with the last result.
 */
export async function waitForRecord<T>(
  { feeds, waits }: { feeds: TopicFeeds; waits: OpenWaits },
  topic: Topic,
  options: { waitMs: number; read: () => Promise<T[]>; closed: NodeJS.EventEmitter },
): Promise<T[]> {
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
      const found = await options.read();
      if (found.length > 0 || isOver) return found;
      await woken;
      if (isOver) return await options.read();
    }
  } finally {
    clearTimeout(timer);
    options.closed.off('close', end);
    remove();
    stopListening();
    use.release();
  }
}
