import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { call } from '../../../api/call.ts';
import type { ScheduledMessage } from '../../../api/wire.ts';
import { ActorName } from '../../../parts/actor-name.tsx';
import { Loading } from '../../../parts/loading.tsx';
import { topicPath } from '../../../parts/paths.ts';
import { RelativeTime } from '../../../parts/time/relative-time.tsx';
import { RowButton } from '../../../parts/row-button.tsx';
import { completeTime, timeUntil } from '../../../parts/time/times.ts';
import { undoable } from '../../../parts/toasts.tsx';
import { useLoad } from '../../../parts/use-load.ts';
import { usePolling } from '../../../parts/use-polling.ts';
import { TopicSubpage } from '../topic-subpage.tsx';

/** The limit of one request. */
const pageSize = 100;
/** The maximum age of the displayed states. */
const refreshMs = 10_000;

/** The messages of a topic that wait for their time, and those that ended in the last 7 days. */
export function ScheduledMessages({ item: name }: { readonly item: string }) {
  const [pages, setPages] = useState(1);
  const { loaded, reload } = useLoad(() => findScheduled(name, pages), `${name} ${pages}`);
  usePolling(reload, refreshMs);
  return (
    <TopicSubpage name={name} title="Scheduled messages">
      <p class="soft">
        Your messages, or all if you manage the topic. Only this page shows them before their time. Those that ended
        stay here for 7 days.
      </p>
      <Loading loaded={loaded} retry={reload}>
        {(messages) => (
          <>
            <List messages={messages} reload={reload} />
            {messages.length === pages * pageSize && (
              <button type="button" class="link-button" onClick={() => setPages(pages + 1)}>
                Show more
              </button>
            )}
          </>
        )}
      </Loading>
    </TopicSubpage>
  );
}

async function findScheduled(topic: string, pages: number): Promise<readonly ScheduledMessage[]> {
  const found: ScheduledMessage[] = [];
  for (let page = 0; page < pages; page++) {
    const path = `/api/messages/scheduled?topic=${encodeURIComponent(topic)}&limit=${pageSize}`;
    found.push(...(await call<ScheduledMessage[]>('GET', `${path}&offset=${page * pageSize}`)));
  }
  return found;
}

interface ListProps {
  readonly messages: readonly ScheduledMessage[];
  readonly reload: () => Promise<void>;
}

function List({ messages, reload }: ListProps) {
  /** IDs of messages that are cancelled once the time to undo is over. */
  const [cancelled, setCancelled] = useState<ReadonlySet<string>>(new Set());
  const cancel = ({ id }: ScheduledMessage) => {
    setCancelled((ids) => new Set([...ids, id]));
    undoable({
      text: 'The message is cancelled.',
      commit: (isClosing) => call('DELETE', `/api/messages/scheduled/${id}`, { keepalive: isClosing }).finally(reload),
      restore: () => setCancelled((ids) => new Set([...ids].filter((one) => one !== id))),
    });
  };
  if (messages.length === 0)
    return <p class="soft">No message is scheduled. “More” in the publish box of the topic sets a time.</p>;
  return (
    <ul class="rows scheduled-list">
      {messages.map((message) => (
        <Row
          key={message.id}
          message={cancelled.has(message.id) && message.state === 'scheduled' ? asCancelled(message) : message}
          cancel={() => cancel(message)}
        />
      ))}
    </ul>
  );
}

const asCancelled = (message: ScheduledMessage): ScheduledMessage => ({ ...message, state: 'cancelled' });

/** Names of the states, with the class of their colour. */
const states: Readonly<Record<ScheduledMessage['state'], readonly [name: string, tone: string]>> = {
  scheduled: ['Scheduled', 'retrying'],
  delivered: ['Delivered', 'sent'],
  cancelled: ['Cancelled', ''],
  dropped: ['Dropped', 'failed'],
};

function Row({ message, cancel }: { readonly message: ScheduledMessage; readonly cancel: () => void }) {
  const { state, reason, scheduled_for: at, published_by: publisher } = message;
  const [name, tone] = states[state];
  return (
    <li>
      <div class="grow">
        <div class="row-title">
          <Title message={message} />
          <span class={`badge ${tone}`}>{name}</span>
        </div>
        {message.title !== null && message.message !== '' && (
          <p class="scheduled-text" dir="auto">
            {message.message}
          </p>
        )}
        <div class="soft">
          {state === 'scheduled' && (
            <>
              <RelativeTime iso={at} text={timeUntil} />
              {' · '}
            </>
          )}
          {completeTime(at)}
          {publisher !== null && (
            <>
              {' · by '}
              <ActorName actor={publisher} />
            </>
          )}
        </div>
        {reason !== null && <div class="field-error">{reason}</div>}
      </div>
      {state === 'scheduled' && <RowButton text="Cancel" name={textOf(message)} onClick={cancel} />}
    </li>
  );
}

const textOf = ({ title, message }: ScheduledMessage): string => title ?? message;

function Title({ message }: { readonly message: ScheduledMessage }) {
  const text = textOf(message);
  if (text === '') return <span class="soft">The content is deleted</span>;
  if (message.state !== 'delivered') return <bdi>{text}</bdi>;
  return (
    <Link href={`${topicPath(message.topic)}?message=${message.id}`}>
      <bdi>{text}</bdi>
    </Link>
  );
}
