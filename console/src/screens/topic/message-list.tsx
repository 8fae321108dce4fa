import { useEffect, useRef, useState } from 'preact/hooks';
import type { Topic } from '../../api/wire.ts';
import { Icon } from '../../parts/icon.tsx';
import { dayName } from '../../parts/time/times.ts';
import { MessageRow } from './message-row.tsx';
import type { Feed } from './use-feed.ts';

/** Older messages load before the reader reaches the end. */
const ahead = '800px';

/** The messages of a feed, with a separator before each day. */
export function MessageList({ feed, topic }: { readonly feed: Feed; readonly topic: Topic }) {
  let lastDay = '';
  return (
    <section class="feed" aria-label="Messages">
      {feed.waiting > 0 && (
        <button type="button" class="new-messages" onClick={() => void feed.showNewest()}>
          <Icon name="arrow" />
          {feed.waiting === 1 ? '1 new message' : `${feed.waiting} new messages`}
        </button>
      )}
      {feed.messages.map((message) => {
        const day = dayName(message.timestamp);
        const separator = day === lastDay ? null : <h2 class="day">{day}</h2>;
        lastDay = day;
        return (
          <div key={message.id}>
            {separator}
            <MessageRow message={message} feed={feed} topic={topic} />
          </div>
        );
      })}
      {feed.hasOlder ? (
        <LoadOlder key={feed.messages.at(-1)?.id} load={feed.loadOlder} />
      ) : (
        <p class="end">Beginning of the topic</p>
      )}
    </section>
  );
}

function LoadOlder({ load }: { readonly load: () => Promise<void> }) {
  const end = useRef<HTMLDivElement>(null);
  const [failure, setFailure] = useState<string | null>(null);
  const run = () => {
    setFailure(null);
    load().catch((error: unknown) => setFailure((error as Error).message));
  };
  useEffect(() => {
    const observer = new IntersectionObserver(
      ([entry]) => {
        if (entry?.isIntersecting !== true) return;
        observer.disconnect();
        run();
      },
      { rootMargin: ahead },
    );
    observer.observe(end.current!);
    return () => observer.disconnect();
  }, []);
  return (
    <div class="end" ref={end}>
      {failure === null ? (
        <span role="status">Loading older messages …</span>
      ) : (
        <>
          <span role="alert">{failure}</span>
          <button type="button" class="button" onClick={run}>
            Try again
          </button>
        </>
      )}
    </div>
  );
}
