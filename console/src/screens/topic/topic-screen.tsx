import { useEffect } from 'preact/hooks';
import { useSearch } from 'wouter-preact';
import { call } from '../../api/call.ts';
import { session } from '../../api/session.ts';
import type { Message, Topic } from '../../api/wire.ts';
import { Skeleton } from '../../parts/loading.tsx';
import { useLoad } from '../../parts/use-load.ts';
import { countMessage, inbox, loadInbox, markViewed, subscriptionTo } from '../../state/inbox.ts';
import { useWaiting } from '../../state/waiting.ts';
import { WaitingList } from './ack/waiting-list.tsx';
import { FirstMessage } from './first-message.tsx';
import { MessageList } from './message-list.tsx';
import { PublishBox } from './publish-box.tsx';
import { Refused } from './refused.tsx';
import { TopicHeader } from './topic-header.tsx';
import { feedPageSize, useFeed } from './use-feed.ts';

interface Opened {
  readonly topic: Topic;
  readonly messages: readonly Message[];
}

async function open(name: string): Promise<Opened> {
  const path = encodeURIComponent(name);
  const [topic, { messages }] = await Promise.all([
    call<Topic>('GET', `/api/topics/${path}`),
    call<{ messages: Message[] }>('GET', `/${path}/json?limit=${feedPageSize}`),
  ]);
  return { topic, messages };
}

/** A topic: stored and live messages, newest first, and a box to publish. */
export function TopicScreen({ item: name }: { readonly item: string }) {
  const { loaded, reload } = useLoad(() => open(name), name);
  return (
    <div class="page topic-page">
      {loaded.state === 'done' ? (
        <Following key={loaded.value.topic.id} {...loaded.value} />
      ) : (
        <>
          <h1 class="topic-name">{name}</h1>
          {loaded.state === 'loading' ? <Skeleton rows={6} /> : <Refused error={loaded.error} retry={reload} />}
        </>
      )}
    </div>
  );
}

function Following({ topic, messages }: Opened) {
  const feed = useFeed(topic.name, messages, (message) => {
    countMessage(message);
    markSeen(topic.id);
  });
  useEffect(() => {
    const seen = () => markSeen(topic.id);
    if (inbox.value === null && session.value !== null) loadInbox().then(seen, () => undefined);
    else seen();
    document.addEventListener('visibilitychange', seen);
    return () => document.removeEventListener('visibilitychange', seen);
  }, [topic.id]);
  useNamedMessage(feed.messages);
  const { waiting, reload } = useWaiting(topic.name);
  return (
    <>
      <TopicHeader topic={topic} state={feed.state} reason={feed.reason} />
      <WaitingList waiting={waiting} reload={reload} onAck={feed.acknowledged} />
      <PublishBox topic={topic.name} />
      {feed.messages.length === 0 ? <FirstMessage topic={topic} /> : <MessageList feed={feed} topic={topic} />}
    </>
  );
}

/** Focuses the message that the URL names, once it is on the page. */
function useNamedMessage(messages: readonly Message[]): void {
  const id = new URLSearchParams(useSearch()).get('message');
  const isShown = messages.some((message) => message.id === id);
  useEffect(() => {
    if (isShown) document.getElementById(`message-${id}`)?.focus();
  }, [id, isShown]);
}

/** Marks the messages of a subscribed topic as read while the page is visible. */
function markSeen(topicId: string): void {
  const subscription = subscriptionTo(topicId);
  if (subscription === undefined || subscription.unread_count === 0 || document.visibilityState !== 'visible') return;
  // The count is corrected by the next refresh.
  markViewed(subscription).catch(() => undefined);
}
