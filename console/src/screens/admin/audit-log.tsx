import { useState } from 'preact/hooks';
import { useLocation, useSearch } from 'wouter-preact';
import type { AuditEntry } from '../../api/wire.ts';
import { Section } from '../../parts/card.tsx';
import { Loading } from '../../parts/loading.tsx';
import { adminPath } from '../../parts/paths.ts';
import { toastError } from '../../parts/toasts.tsx';
import { useLoad } from '../../parts/use-load.ts';
import { actionTexts } from './action-texts.ts';
import { AuditRow } from './audit-row.tsx';
import { callAsOperator } from './operator.ts';

interface Page {
  readonly entries: readonly AuditEntry[];
  readonly next_cursor: string | null;
}

const pageSize = 50;

/** Who did what, when and from where. The filters are in the URL. */
export function AuditLog() {
  const search = useSearch();
  return (
    <Section title="Audit log" hint="The newest entries first.">
      <Filters key={search} query={new URLSearchParams(search)} />
      <Entries key={`entries ${search}`} search={search} />
    </Section>
  );
}

function Filters({ query }: { readonly query: URLSearchParams }) {
  const [, navigate] = useLocation();
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const values = [...new FormData(event.currentTarget as HTMLFormElement)];
    const filled = values.map(([name, value]) => [name, String(value).trim()]).filter(([, value]) => value !== '');
    navigate(`${adminPath('audit')}?${new URLSearchParams(filled).toString()}`);
  };
  const value = (name: string) => query.get(name) ?? '';
  return (
    <form class="search-form" role="search" onSubmit={submit}>
      <div class="field">
        <label for="since">From</label>
        <input id="since" name="since" type="date" defaultValue={value('since')} />
      </div>
      <div class="field">
        <label for="until">To</label>
        <input id="until" name="until" type="date" defaultValue={value('until')} />
      </div>
      <div class="field">
        <label for="action">Action</label>
        <select id="action" name="action">
          <option value="">Any</option>
          {Object.entries(actionTexts).map(([action, text]) => (
            <option key={action} value={action} selected={action === value('action')}>
              {text}
            </option>
          ))}
        </select>
      </div>
      <div class="field">
        <label for="actor">Actor</label>
        <input
          id="actor"
          name="actor"
          defaultValue={value('actor')}
          autocomplete="off"
          placeholder="Email, ID, operator …"
        />
      </div>
      <div class="field">
        <label for="subject">Subject</label>
        <input id="subject" name="subject" defaultValue={value('subject')} autocomplete="off" placeholder="ID" />
      </div>
      <button type="submit" class="button primary">
        Filter
      </button>
    </form>
  );
}

function Entries({ search }: { readonly search: string }) {
  const loadPage = (cursor: string | null) => {
    const query = new URLSearchParams(search);
    query.set('limit', String(pageSize));
    if (cursor !== null) query.set('cursor', cursor);
    return callAsOperator<Page>('GET', `/admin/audit?${query.toString()}`);
  };
  const { loaded, reload } = useLoad(() => loadPage(null), search);
  const [older, setOlder] = useState<readonly Page[]>([]);
  const [isBusy, setBusy] = useState(false);
  const loadOlder = async (cursor: string) => {
    setBusy(true);
    try {
      const page = await loadPage(cursor);
      setOlder((before) => [...before, page]);
    } catch (error) {
      toastError(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Loading loaded={loaded} retry={reload} rows={6}>
      {(first) => {
        const entries = [first, ...older].flatMap((page) => page.entries);
        const next = (older.at(-1) ?? first).next_cursor;
        return (
          <>
            {entries.length === 0 && (
              <p class="soft" role="status">
                {next === null
                  ? 'No entry matches. Remove a filter.'
                  : 'No entry matches so far. Continue with older ones.'}
              </p>
            )}
            {entries.length > 0 && (
              <ul class="rows" aria-label="Entries">
                {entries.map((entry) => (
                  <AuditRow key={entry.id} entry={entry} />
                ))}
              </ul>
            )}
            {next !== null && (
              <p class="more">
                <button type="button" class="button" disabled={isBusy} onClick={() => void loadOlder(next)}>
                  Show older entries
                </button>
              </p>
            )}
          </>
        );
      }}
    </Loading>
  );
}
