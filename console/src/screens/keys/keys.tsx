import { useState } from 'preact/hooks';
import { call } from '../../api/call.ts';
import type { ApiKey } from '../../api/wire.ts';
import { Loading } from '../../parts/loading.tsx';
import { NewSecret } from '../../parts/new-secret.tsx';
import { isRemoved } from '../../parts/removals.ts';
import { useLoad } from '../../parts/use-load.ts';
import { CreateKey } from './create-key.tsx';
import { KeyRow } from './key-row.tsx';
import { keySnippets, topicPlaceholder } from './key-snippets.ts';
import './keys.css';

type NewKey = ApiKey & { readonly key: string };

/** The API keys with which programs use the account. */
export function Keys() {
  const { loaded, reload } = useLoad(() => call<ApiKey[]>('GET', '/api/keys'), 'keys');
  const [created, setCreated] = useState<NewKey | null>(null);
  const create = async (json: object) => {
    setCreated(await call<NewKey>('POST', '/api/keys', { json }));
    await reload();
  };
  const isInvalid = loaded.state === 'done' && loaded.value.some(({ id, is_valid }) => id === created?.id && !is_valid);
  return (
    <div class="page settings-page">
      <h1>API keys</h1>
      <p class="soft">
        A program uses your account with a key instead of your password. To publish to one topic or read it, a token
        from the settings of the topic is enough.
      </p>
      <div class="section">
        {created !== null && !isInvalid && <NewKeyCard key={created.id} created={created} />}
        <Loading loaded={loaded} retry={reload} rows={3}>
          {(keys) => <KeyList keys={keys.filter((one) => !isRemoved(one))} reload={reload} />}
        </Loading>
        <CreateKey key={created?.id ?? 'first'} create={create} />
      </div>
    </div>
  );
}

function NewKeyCard({ created }: { readonly created: NewKey }) {
  const snippets = keySnippets(created);
  return (
    <NewSecret kind="key" name={created.name} secret={created.key} snippets={snippets}>
      {snippets.length === 0 && (
        <p class="soft">
          Programs send it in the header <code>X-API-Key</code>. The <a href="/docs">API documentation</a> lists the
          requests.
        </p>
      )}
      {snippets.some(([, line]) => line.includes(topicPlaceholder)) && (
        <p class="soft">Replace {topicPlaceholder} with the name of a topic.</p>
      )}
    </NewSecret>
  );
}

interface KeyListProps {
  readonly keys: readonly ApiKey[];
  readonly reload: () => Promise<void>;
}

function KeyList({ keys, reload }: KeyListProps) {
  if (keys.length === 0) return <p class="soft">You have no API keys.</p>;
  return (
    <ul class="rows">
      {keys.map((key) => (
        <KeyRow key={key.id} apiKey={key} reload={reload} />
      ))}
    </ul>
  );
}
