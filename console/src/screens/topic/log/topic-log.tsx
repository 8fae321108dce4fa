import { useRef, useState } from 'preact/hooks';
import { useLocation, useSearch } from 'wouter-preact';
import { call } from '../../../api/call.ts';
import type { Topic } from '../../../api/wire.ts';
import { Section } from '../../../parts/card.tsx';
import { FormValues } from '../../../parts/form.tsx';
import { Loading, Skeleton } from '../../../parts/loading.tsx';
import { topicLogPath } from '../../../parts/paths.ts';
import { useLoad } from '../../../parts/use-load.ts';
import { Refused } from '../refused.tsx';
import { TopicSubpage } from '../topic-subpage.tsx';
import { LogConsumers } from './log-consumers.tsx';
import { LogRecords } from './log-records.tsx';
import { queryOfStart, startOfForm, startOfQuery, type LogStart } from './log-start.ts';
import { readPage } from './read-log.ts';
import { StartFields } from './start-fields.tsx';
import './log.css';

/** The log of a topic from the place in the query of the URL, and the account's consumers. */
export function TopicLog({ item: name }: { readonly item: string }) {
  const { loaded, reload } = useLoad(() => call<Topic>('GET', `/api/topics/${encodeURIComponent(name)}`), name);
  return (
    <TopicSubpage name={name} title="Log">
      {loaded.state === 'loading' && <Skeleton rows={8} />}
      {loaded.state === 'failed' && <Refused error={loaded.error} retry={reload} />}
      {loaded.state === 'done' && (
        <>
          <Replay topic={loaded.value.name} />
          <LogConsumers topic={loaded.value.name} />
        </>
      )}
    </TopicSubpage>
  );
}

const choices = [
  ['newest', 'The newest records'],
  ['beginning', 'The beginning'],
  ['offset', 'An offset'],
  ['time', 'A time'],
] as const;

function Replay({ topic }: { readonly topic: string }) {
  const search = useSearch();
  const selected = startOr(search);
  return (
    <Section title="Records" hint="Every message, edit and deletion, in the order in which programs read them.">
      <StartForm
        key={search}
        topic={topic}
        start={'start' in selected ? selected.start : { kind: 'offset', offset: 0 }}
      />
      {'start' in selected ? (
        <Records topic={topic} search={search} start={selected.start} />
      ) : (
        <p class="note bad" role="alert" dir="auto">
          {selected.error}
        </p>
      )}
    </Section>
  );
}

/** The start that the URL selects, or why its value is invalid. */
function startOr(search: string): { readonly start: LogStart } | { readonly error: string } {
  try {
    return { start: startOfQuery(search) };
  } catch (error) {
    return { error: (error as Error).message };
  }
}

function StartForm({ topic, start }: { readonly topic: string; readonly start: LogStart }) {
  const form = useRef<HTMLFormElement>(null);
  const [, navigate] = useLocation();
  const [error, setError] = useState<string | null>(null);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    try {
      navigate(topicLogPath(topic, queryOfStart(startOfForm(new FormValues(form.current!), 'read'))));
      setError(null);
    } catch (failure) {
      setError((failure as Error).message);
    }
  };
  return (
    <form class="log-start" ref={form} onSubmit={submit}>
      <StartFields prefix="read" label="Read from" choices={choices} start={start} />
      <button type="submit" class="button primary">
        Read
      </button>
      {error !== null && (
        <p class="note bad" role="alert" dir="auto">
          {error}
        </p>
      )}
    </form>
  );
}

interface RecordsProps {
  readonly topic: string;
  readonly search: string;
  readonly start: LogStart;
}

function Records({ topic, search, start }: RecordsProps) {
  const { loaded, reload } = useLoad(() => readPage(topic, start), `${topic}?${search}`);
  // The topic may have been deleted since the page was opened.
  if (loaded.state === 'failed') return <Refused error={loaded.error} retry={reload} />;
  return (
    <Loading loaded={loaded} retry={reload} rows={8}>
      {(page) => <LogRecords topic={topic} page={page} reload={reload} />}
    </Loading>
  );
}
