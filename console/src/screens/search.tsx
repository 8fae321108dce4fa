import { useState } from 'preact/hooks';
import { Link, useLocation, useSearch } from 'wouter-preact';
import { call } from '../api/call.ts';
import type { Message } from '../api/wire.ts';
import { Loading } from '../parts/loading.tsx';
import { completeTime } from '../parts/time/times.ts';
import { useLoad } from '../parts/use-load.ts';
import { topicPath } from '../parts/paths.ts';
import { knownTopics } from '../state/inbox.ts';
import { MessageContent } from './topic/message-row.tsx';

interface Found {
  readonly messages: readonly Message[];
  readonly total: number;
}

const pageSize = 50;
const fieldNames = ['q', 'topic', 'tags', 'priority_min', 'date_from', 'date_to'] as const;

/** Searches the messages of all topics that the account can read. The query is in the URL. */
export function Search() {
  const search = useSearch();
  const query = new URLSearchParams(search);
  return (
    <div class="page">
      <h1>Search</h1>
      <Filters key={search} query={query} />
      {fieldNames.some((name) => (query.get(name) ?? '') !== '') ? (
        <Results query={query} />
      ) : (
        <p class="soft">
          Search the titles and texts of all topics that you own, subscribe to or reach through a team.
        </p>
      )}
    </div>
  );
}

function Filters({ query }: { readonly query: URLSearchParams }) {
  const [, navigate] = useLocation();
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const values = new FormData(event.currentTarget as HTMLFormElement);
    const filled = [...values].filter(([, value]) => value !== '').map(([name, value]) => [name, String(value)]);
    navigate(`/console/search?${new URLSearchParams(filled).toString()}`);
  };
  const value = (name: string) => query.get(name) ?? '';
  return (
    <form class="search-form" role="search" onSubmit={submit}>
      <div class="field wide">
        <label for="q">Text</label>
        <input id="q" name="q" type="search" defaultValue={value('q')} maxLength={200} autocomplete="off" />
      </div>
      <div class="field">
        <label for="topic">Topic</label>
        <input id="topic" name="topic" list="topics" defaultValue={value('topic')} maxLength={64} autocomplete="off" />
        <datalist id="topics">
          {knownTopics.value.map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
      </div>
      <div class="field">
        <label for="tags">Tag</label>
        <input id="tags" name="tags" defaultValue={value('tags')} maxLength={64} autocomplete="off" />
      </div>
      <div class="field">
        <label for="priority_min">Priority</label>
        <select id="priority_min" name="priority_min">
          {['', '2', '3', '4', '5'].map((least) => (
            <option key={least} value={least} selected={least === value('priority_min')}>
              {least === '' ? 'Any' : `${least} or higher`}
            </option>
          ))}
        </select>
      </div>
      <div class="field">
        <label for="date_from">From</label>
        <input id="date_from" name="date_from" type="date" defaultValue={value('date_from')} />
      </div>
      <div class="field">
        <label for="date_to">To</label>
        <input id="date_to" name="date_to" type="date" defaultValue={value('date_to')} />
      </div>
      <button type="submit" class="button primary">
        Search
      </button>
    </form>
  );
}

function Results({ query }: { readonly query: URLSearchParams }) {
  const [page, setPage] = useState(0);
  const path = `/api/messages/search?${query.toString()}&limit=${pageSize}&offset=${page * pageSize}`;
  const { loaded, reload } = useLoad(() => call<Found>('GET', path), path);
  return (
    <Loading loaded={loaded} retry={reload} rows={6}>
      {({ messages, total }) => (
        <section class="feed" aria-label="Results">
          <p class="soft" role="status">
            {total === 0
              ? 'No message matches. Remove a filter or shorten the text.'
              : `${total.toLocaleString()} found`}
          </p>
          {messages.map((message) => (
            <article key={message.id} class={`message p${message.priority}`} tabIndex={-1}>
              <div class="found-in">
                <Link href={topicPath(message.topic)}>{message.topic}</Link>
                <span class="soft">{completeTime(message.timestamp)}</span>
              </div>
              <MessageContent message={message} highlight={query.get('q') ?? ''} />
            </article>
          ))}
          <Pages {...{ page, total, setPage }} />
        </section>
      )}
    </Loading>
  );
}

interface PagesProps {
  readonly page: number;
  readonly total: number;
  readonly setPage: (page: number) => void;
}

function Pages({ page, total, setPage }: PagesProps) {
  if (total <= pageSize) return null;
  return (
    <nav class="pages" aria-label="Pages of results">
      <button type="button" class="button" disabled={page === 0} onClick={() => setPage(page - 1)}>
        Newer
      </button>
      <span class="soft">
        {page * pageSize + 1} to {Math.min(total, (page + 1) * pageSize)}
      </span>
      <button type="button" class="button" disabled={(page + 1) * pageSize >= total} onClick={() => setPage(page + 1)}>
        Older
      </button>
    </nav>
  );
}
