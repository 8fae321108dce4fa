import { useEffect, useRef, useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { call } from '../../api/call.ts';
import { session } from '../../api/session.ts';
import { MessageText } from '../../parts/message-text.tsx';
import { scheduledPath } from '../../parts/paths.ts';
import { completeTime, timeUntil } from '../../parts/time/times.ts';
import { emptyDraft, ownTimezone, type Draft } from './draft.ts';
import { Tags } from './message-row.tsx';
import { MoreOptions } from './more-options.tsx';

const priorities = [
  ['5', 'Highest'],
  ['4', 'High'],
  ['3', 'Default'],
  ['2', 'Low'],
  ['1', 'Lowest'],
] as const;

/** The message that the user writes, and what publishes it. */
function useDraft(topic: string) {
  const [draft, setDraft] = useState<Draft>(emptyDraft);
  const [failure, setFailure] = useState<string | null>(null);
  /** When the message that was published last will be delivered. */
  const [scheduledFor, setScheduledFor] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const publish = async () => {
    if (isBusy || draft.message === '') return;
    setBusy(true);
    setFailure(null);
    setScheduledFor(null);
    try {
      const published = await call<{ scheduled_for?: string }>('POST', '/', { json: publishedOf(draft, topic) });
      setScheduledFor(published.scheduled_for ?? null);
      setDraft(emptyDraft);
    } catch (error) {
      setFailure((error as Error).message);
    } finally {
      setBusy(false);
    }
  };
  const change = (part: Partial<Draft>) => setDraft((current) => ({ ...current, ...part }));
  return { draft, change, failure, scheduledFor, isBusy, publish };
}

/** The draft as the API expects it. Throws if it has no time of delivery but needs one. */
function publishedOf({ when, delay, ...fields }: Draft, topic: string): object {
  if (when !== '' && delay.trim() === '') throw new Error('Enter the time of delivery.');
  return {
    ...fields,
    topic,
    title: fields.title || null,
    priority: Number(fields.priority),
    ...(when === '' ? {} : { delay, timezone: ownTimezone() }),
  };
}

export function PublishBox({ topic }: { readonly topic: string }) {
  const { draft, change, failure, scheduledFor, isBusy, publish } = useDraft(topic);
  const [wantsPreview, setPreview] = useState(false);
  const [hasMore, setMore] = useState(false);
  const isPreview = wantsPreview && draft.message !== '';
  const box = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    if (new URLSearchParams(location.search).has('publish')) box.current?.focus();
  }, []);
  return (
    <form
      class={draft === emptyDraft ? 'publish idle' : 'publish'}
      aria-label="Publish"
      onSubmit={(event) => {
        event.preventDefault();
        void publish().then(() => box.current?.focus());
      }}
    >
      <label class="hidden" for="message">
        Message
      </label>
      <textarea
        id="message"
        ref={box}
        dir="auto"
        rows={2}
        placeholder={`Message to ${topic}`}
        value={draft.message}
        hidden={isPreview}
        onInput={(event) => change({ message: event.currentTarget.value })}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void publish();
        }}
      />
      {isPreview && <Preview draft={draft} />}
      <div class="publish-options">
        <Options draft={draft} change={change} />
        <span class="grow" />
        <button type="button" class="button plain" aria-expanded={hasMore} onClick={() => setMore(!hasMore)}>
          More
        </button>
        <button
          type="button"
          class="button plain"
          aria-pressed={isPreview}
          disabled={draft.message === ''}
          onClick={() => setPreview(!isPreview)}
        >
          {isPreview ? 'Write' : 'Preview'}
        </button>
        <button type="submit" class="button primary" disabled={isBusy} title="Ctrl Enter">
          {draft.when === '' ? 'Publish' : 'Schedule'}
        </button>
      </div>
      {hasMore && <MoreOptions draft={draft} change={change} />}
      {scheduledFor !== null && <Scheduled iso={scheduledFor} topic={topic} />}
      {failure !== null && (
        <p class="note bad" role="alert">
          {failure}
        </p>
      )}
    </form>
  );
}

function Scheduled({ iso, topic }: { readonly iso: string; readonly topic: string }) {
  return (
    <p class="note good" role="status">
      Will be delivered {timeUntil(iso)}, on {completeTime(iso)}.{' '}
      {session.value !== null && <Link href={scheduledPath(topic)}>Scheduled messages</Link>}
    </p>
  );
}

interface OptionsProps {
  readonly draft: Draft;
  readonly change: (part: Partial<Draft>) => void;
}

function Options({ draft, change }: OptionsProps) {
  return (
    <>
      <TextOption id="title" label="Title" value={draft.title} max={250} onInput={(title) => change({ title })} />
      <TextOption id="tags" label="Tags" value={draft.tags} max={500} onInput={(tags) => change({ tags })} />
      <label class="hidden" for="priority">
        Priority
      </label>
      <select
        id="priority"
        value={draft.priority}
        onChange={(event) => change({ priority: event.currentTarget.value })}
      >
        {priorities.map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
      <label class="check">
        <input
          type="checkbox"
          checked={draft.markdown}
          onChange={(event) => change({ markdown: event.currentTarget.checked })}
        />
        <span>Markdown</span>
      </label>
    </>
  );
}

function Preview({ draft }: { readonly draft: Draft }) {
  const tags = draft.tags
    .split(',')
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '');
  return (
    <div class={`preview p${draft.priority}`} aria-label="Preview">
      {draft.title !== '' && <h3 dir="auto">{draft.title}</h3>}
      <MessageText text={draft.message} isMarkdown={draft.markdown} />
      <Tags tags={tags} />
    </div>
  );
}

interface TextOptionProps {
  readonly id: string;
  readonly label: string;
  readonly value: string;
  readonly max: number;
  readonly onInput: (value: string) => void;
}

function TextOption({ id, label, value, max, onInput }: TextOptionProps) {
  return (
    <>
      <label class="hidden" for={id}>
        {label}
      </label>
      <input
        id={id}
        type="text"
        placeholder={label}
        autocomplete="off"
        maxLength={max}
        value={value}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
    </>
  );
}
