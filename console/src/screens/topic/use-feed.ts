import { useEffect, useRef, useState } from 'preact/hooks';
import { call } from '../../api/call.ts';
import { openStream, type ConnectionState } from '../../api/stream.ts';
import type { Message } from '../../api/wire.ts';
import type { OnAck } from '../../state/acknowledge.tsx';
import { noticeWaiting } from '../../state/waiting.ts';
import { FeedWindow } from './feed-window.ts';

export const feedPageSize = 50;

/** Number of newest messages that are compared after a reconnect, because edits and deletions are not resumed. */
const comparedMax = 200;

export interface Feed {
  readonly messages: readonly Message[];
  readonly state: ConnectionState;
  /** Why the stream ended. */
  readonly reason: string | null;
  readonly hasOlder: boolean;
  /** Messages that arrived while the feed shows older ones. */
  readonly waiting: number;
  /** IDs of messages that arrived while the page was open. */
  readonly fresh: ReadonlySet<string>;
  readonly loadOlder: () => Promise<void>;
  readonly showNewest: () => Promise<void>;
  readonly acknowledged: OnAck;
  readonly replace: (message: Message) => void;
  readonly setHidden: (id: string, isHidden: boolean) => void;
}

/** Follows a topic: `first` are its newest messages, oldest first. */
export function useFeed(topic: string, first: readonly Message[], onMessage: (message: Message) => void): Feed {
  const [feed] = useState(() => new FeedWindow(first, first.length === feedPageSize));
  const [, setVersion] = useState(0);
  const [connection, setConnection] = useState<{ state: ConnectionState; reason: string | null }>({
    state: 'connecting',
    reason: null,
  });
  const notify = useRef(onMessage);
  notify.current = onMessage;
  const update = () => setVersion((version) => version + 1);
  const path = encodeURIComponent(topic);
  const newest = (limit: number) =>
    call<{ messages: Message[] }>('GET', `/${path}/json?limit=${limit}`).then(({ messages }) => messages);

  useEffect(() => {
    let wasLive = false;
    return openStream(
      [topic],
      { [topic]: first.at(-1)?.id ?? null },
      {
        onState(state, reason) {
          setConnection({ state, reason: reason ?? null });
          if (state !== 'live') return;
          if (wasLive)
            void newest(comparedMax).then(
              (messages) => (feed.compare(messages), update()),
              () => undefined,
            );
          wasLive = true;
        },
        onMessage(message) {
          if (feed.add(message, isAtTop())) notify.current(message);
          noticeWaiting(message);
          update();
        },
        onChanged: (message) => (feed.replace(message), noticeWaiting(message), update()),
        onDeleted: (message) => (feed.remove(message.id), noticeWaiting(message), update()),
      },
    );
  }, [topic]);

  return {
    ...connection,
    messages: feed.shown(),
    hasOlder: feed.hasOlder,
    waiting: feed.waiting,
    fresh: feed.fresh,
    async loadOlder() {
      const older = await call<{ messages: Message[] }>(
        'GET',
        `/api/topics/${path}/messages?limit=${feedPageSize}&${feed.olderQuery()}`,
      );
      feed.addOlder(older.messages, older.messages.length === feedPageSize);
      update();
    },
    async showNewest() {
      const messages = await newest(feedPageSize);
      feed.restart(messages, messages.length === feedPageSize);
      update();
      scrollTo({ top: 0 });
    },
    acknowledged: (id, state) => (feed.change(id, state), update()),
    replace: (message) => (feed.replace(message), update()),
    setHidden: (id, isHidden) => (feed.setHidden(id, isHidden), update()),
  };
}

const topPx = 240;
const isAtTop = (): boolean => document.documentElement.scrollTop < topPx;
