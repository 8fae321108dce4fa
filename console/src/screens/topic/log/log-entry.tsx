import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import type { LogRecord } from '../../../api/wire.ts';
import { topicLogPath } from '../../../parts/paths.ts';
import { completeTime } from '../../../parts/time/times.ts';
import { Tags } from '../message-row.tsx';

/** Longer texts are shown in part first. */
const shownMaxChars = 400;
const shownMaxLines = 6;

/** A record of a log with the current state of its message. */
export function LogEntry({ record, topic }: { readonly record: LogRecord; readonly topic: string }) {
  const [isOpen, setOpen] = useState(false);
  const { offset, timestamp, message } = record;
  return (
    <article class={`message record p${message.priority}`} tabIndex={-1} aria-label={`Record ${offset}`}>
      <div class="record-head">
        <span class="record-offset">{offset}</span>
        <time dateTime={timestamp}>{completeTime(timestamp)}</time>
        <Kind record={record} topic={topic} />
        <button type="button" class="link-button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          JSON<span class="hidden"> of record {offset}</span>
        </button>
      </div>
      {record.type !== 'message_deleted' && <Content record={record} />}
      {isOpen && (
        <pre class="record-json" tabIndex={0}>
          {JSON.stringify(record, null, 2)}
        </pre>
      )}
    </article>
  );
}

const changeNames = {
  message_edited: 'Edit',
  message_acknowledged: 'Acknowledgement',
  message_unacknowledged: 'Withdrawn acknowledgement',
} as const;

/** What happened to the message, with a link from a change to the message's own record. */
function Kind({ record: { type, message }, topic }: { readonly record: LogRecord; readonly topic: string }) {
  const original = <Link href={topicLogPath(topic, `from_offset=${message.offset}`)}>message {message.offset}</Link>;
  if (type === 'message_deleted') return <Badge tone="failed">Deletion of {original}</Badge>;
  const states = (
    <>
      {message.is_edited && type === 'message' && <Badge tone="skipped">Edited</Badge>}
      {message.is_deleted && <Badge tone="failed">Deleted</Badge>}
    </>
  );
  if (type === 'message') return states;
  return (
    <>
      <Badge tone={type === 'message_acknowledged' ? 'sent' : 'skipped'}>
        {changeNames[type]} of {original}
      </Badge>
      {states}
    </>
  );
}

/** `tone` is one of the states of a push, which have the same colours. */
function Badge({
  tone,
  children,
}: {
  readonly tone: 'sent' | 'failed' | 'skipped';
  readonly children: ComponentChildren;
}) {
  return <span class={`badge ${tone}`}>{children}</span>;
}

function Content({ record: { message } }: { readonly record: LogRecord }) {
  if (message.is_deleted)
    return <p class="soft">The message was deleted{timeOf(message.deleted_at)}. Its content is not in the log.</p>;
  return (
    <>
      {message.title !== null && <h3 dir="auto">{message.title}</h3>}
      <Text text={message.message} />
      {message.tags.length > 0 && (
        <div class="meta">
          <Tags tags={message.tags} />
        </div>
      )}
      {message.is_edited && (
        <p class="hint">The message was edited{timeOf(message.edited_at)}. All its records show the current text.</p>
      )}
    </>
  );
}

const timeOf = (iso: string | null): string => (iso === null ? '' : ` on ${completeTime(iso)}`);

function Text({ text }: { readonly text: string }) {
  const [isWhole, setWhole] = useState(false);
  const start = text.split('\n', shownMaxLines).join('\n').slice(0, shownMaxChars);
  const isLong = start.length < text.length;
  return (
    <>
      <p class="text" dir="auto">
        {isWhole || !isLong ? text : `${start} …`}
      </p>
      {isLong && (
        <button type="button" class="link-button" aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
          {isWhole ? 'Show less' : `Show all ${text.length.toLocaleString()} characters`}
        </button>
      )}
    </>
  );
}
