import type { ComponentChild, ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { call } from '../../api/call.ts';
import { session } from '../../api/session.ts';
import type { Message, Topic } from '../../api/wire.ts';
import { ActorName } from '../../parts/actor-name.tsx';
import { emojiOf } from '../../parts/emoji.ts';
import { Icon, type IconName } from '../../parts/icon.tsx';
import { MessageText } from '../../parts/message-text.tsx';
import { clockTime, completeTime } from '../../parts/time/times.ts';
import { toast, toastError, undoable } from '../../parts/toasts.tsx';
import { AckButtons } from './ack/ack-buttons.tsx';
import { AckLine } from './ack/ack-line.tsx';
import { Leads } from './leads.tsx';
import { EditMessage } from './edit-message.tsx';
import { PushReport } from './push-report.tsx';
import type { Feed } from './use-feed.ts';

const priorityNames: Readonly<Record<number, string>> = { 1: 'Lowest', 2: 'Low', 4: 'High', 5: 'Highest' };

interface MessageRowProps {
  readonly message: Message;
  readonly topic: Topic;
  readonly feed: Pick<Feed, 'fresh' | 'acknowledged' | 'replace' | 'setHidden'>;
}

export function MessageRow({ message, topic, feed }: MessageRowProps) {
  const [panel, setPanel] = useState<'edit' | 'pushes' | null>(null);
  const toggle = (name: 'edit' | 'pushes') => setPanel(panel === name ? null : name);
  const isFresh = feed.fresh.has(message.id);
  return (
    <article
      id={`message-${message.id}`}
      class={`message p${message.priority} ${isFresh ? 'fresh' : ''}`}
      tabIndex={-1}
    >
      <MessageContent message={message}>
        <AckButtons message={message} onAck={feed.acknowledged} />
      </MessageContent>
      <div class="message-actions">
        {session.value !== null && (
          <Action icon="help" text="Why did I get or not get a push?" onClick={() => toggle('pushes')} />
        )}
        {topic.can_manage && (
          <>
            <Action icon="push" text="Push again" onClick={() => void pushAgain(message)} />
            <Action icon="edit" text="Edit" onClick={() => toggle('edit')} />
            <Action icon="delete" text="Delete" onClick={() => remove(message, feed)} />
          </>
        )}
      </div>
      {panel === 'edit' && <EditMessage message={message} onSaved={feed.replace} onClose={() => setPanel(null)} />}
      {panel === 'pushes' && <PushReport message={message} />}
    </article>
  );
}

interface MessageContentProps {
  readonly message: Message;
  readonly highlight?: string;
  /** What the reader can do about an acknowledgement. */
  readonly children?: ComponentChildren;
}

/** What a reader sees of a message. */
export function MessageContent({ message, highlight, children }: MessageContentProps) {
  return (
    <div class="content">
      {message.title !== null && <h3 dir="auto">{message.title}</h3>}
      <time dateTime={message.timestamp} title={completeTime(message.timestamp)}>
        {clockTime(message.timestamp)}
      </time>
      <MessageText
        text={message.message}
        isMarkdown={message.markdown}
        {...(highlight === undefined ? {} : { highlight })}
      />
      <Leads click={message.click} actions={message.actions} />
      <AckLine message={message}>{children}</AckLine>
      <Meta message={message} />
    </div>
  );
}

function Meta({ message }: { readonly message: Message }) {
  const priority = priorityNames[message.priority];
  const publisher = publisherOf(message);
  const isEmpty = priority === undefined && publisher === null && message.tags.length === 0;
  if (isEmpty && !message.is_edited && !message.silent) return null;
  return (
    <div class="meta">
      {priority !== undefined && <span class="priority">{priority}</span>}
      <Tags tags={message.tags} />
      {message.silent && <span class="soft">silent</span>}
      {message.is_edited && <span class="soft">edited</span>}
      {publisher !== null && <span class="soft">{publisher}</span>}
    </div>
  );
}

/** Null for readers, who do not see the publisher, and for anonymous ones. */
function publisherOf({ published_by: publisher }: Message): ComponentChild {
  if (publisher === null || publisher.name === null || publisher.kind === 'system') return null;
  if (publisher.kind === 'anonymous') return null;
  return (
    <>
      by <ActorName actor={publisher} />
    </>
  );
}

/** Tags, with the emoji of those that are short codes. */
export function Tags({ tags }: { readonly tags: readonly string[] }) {
  return (
    <>
      {tags.map((tag) => {
        const emoji = emojiOf(tag);
        return (
          <span key={tag} class="badge" dir="auto">
            {emoji === null ? tag : `${emoji} ${tag}`}
          </span>
        );
      })}
    </>
  );
}

interface ActionProps {
  readonly icon: IconName;
  readonly text: string;
  readonly onClick: () => void;
}

function Action({ icon, text, onClick }: ActionProps) {
  return (
    <button type="button" class="icon-button" aria-label={text} title={text} onClick={onClick}>
      <Icon name={icon} />
    </button>
  );
}

async function pushAgain({ id }: Message): Promise<void> {
  try {
    await call('POST', `/api/messages/${id}/renotify`);
    toast('Devices that missed the message receive it now.');
  } catch (error) {
    toastError(error);
  }
}

function remove({ id, topic }: Message, feed: Pick<Feed, 'setHidden'>): void {
  feed.setHidden(id, true);
  undoable({
    text: 'Message deleted.',
    commit: (isClosing) => call('DELETE', `/api/${encodeURIComponent(topic)}/messages/${id}`, { keepalive: isClosing }),
    restore: () => feed.setHidden(id, false),
  });
}
