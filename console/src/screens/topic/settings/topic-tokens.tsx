import { useState } from 'preact/hooks';
import { call } from '../../../api/call.ts';
import type { Topic, TopicToken } from '../../../api/wire.ts';
import { Section } from '../../../parts/card.tsx';
import { CopyLine } from '../../../parts/copy-line.tsx';
import { Field, Form, Select, type FormValues } from '../../../parts/form.tsx';
import { Loading } from '../../../parts/loading.tsx';
import { completeTime, timeAgo } from '../../../parts/times.ts';
import { toastError, undoable } from '../../../parts/toasts.tsx';
import { useLoad } from '../../../parts/use-load.ts';
import { snippetsOf } from './snippets.ts';

type NewToken = TopicToken & { readonly token: string };

/** The tokens with which programs publish to the topic or read it. */
export function TopicTokens({ topic }: { readonly topic: Topic }) {
  const path = `/api/topics/${encodeURIComponent(topic.name)}/access-tokens`;
  const { loaded, reload } = useLoad(() => call<TopicToken[]>('GET', path), path);
  const [created, setCreated] = useState<NewToken | null>(null);
  const [hidden, setHidden] = useState<readonly string[]>([]);
  const create = async (values: FormValues) => {
    const days = Number(values.text('expires_days'));
    const json = {
      name: values.text('token_name'),
      permissions: values.text('permissions').split(' '),
      ...(days === 0 ? {} : { expires_at: new Date(Date.now() + days * 86_400_000).toISOString() }),
    };
    setCreated(await call<NewToken>('POST', path, { json }));
    await reload();
  };
  const remove = ({ id, name }: TopicToken) => {
    setHidden([...hidden, id]);
    if (created?.id === id) setCreated(null);
    undoable({
      text: `The token ${name} is deleted.`,
      commit: (isClosing) => call('DELETE', `${path}/${id}`, { keepalive: isClosing }),
      restore: () => setHidden((ids) => ids.filter((one) => one !== id)),
    });
  };
  return (
    <Section title="Tokens" hint="A program publishes to the topic, or reads it, with a token instead of an account.">
      {created !== null && <NewTokenCard topic={topic} token={created} />}
      <Loading loaded={loaded} retry={() => reload().catch(toastError)} rows={2}>
        {(tokens) => <TokenList tokens={tokens.filter(({ id }) => !hidden.includes(id))} remove={remove} />}
      </Loading>
      <CreateToken create={create} />
    </Section>
  );
}

/** The secret of a new token, with lines to paste. */
function NewTokenCard({ topic, token }: { readonly topic: Topic; readonly token: NewToken }) {
  return (
    <div class="card new-token" role="status">
      <h3>{token.name}</h3>
      <p class="soft">Copy the token now: it is shown only once.</p>
      <CopyLine text={token.token} label="Copy the token" />
      {snippetsOf(`${location.origin}/${topic.name}`, token).map(([language, line]) => (
        <div key={language}>
          <h4>{language}</h4>
          <CopyLine text={line} label={`Copy the line for ${language}`} />
        </div>
      ))}
    </div>
  );
}

interface TokenListProps {
  readonly tokens: readonly TopicToken[];
  readonly remove: (token: TopicToken) => void;
}

function TokenList({ tokens, remove }: TokenListProps) {
  if (tokens.length === 0) return <p class="soft">The topic has no tokens.</p>;
  return (
    <ul class="rows">
      {tokens.map((token) => (
        <li key={token.id}>
          <div class="grow">
            <div dir="auto">{token.name}</div>
            <div class="soft">
              {token.permissions.map((permission) => (permission === 'read' ? 'read' : 'publish')).join(' and ')} ·{' '}
              {token.last_used_at === null ? 'never used' : `used ${timeAgo(token.last_used_at)}`} ·{' '}
              {token.expires_at === null ? 'does not expire' : `expires ${completeTime(token.expires_at)}`}
            </div>
          </div>
          <button
            type="button"
            class="button"
            aria-label={`Delete the token ${token.name}`}
            onClick={() => remove(token)}
          >
            Delete
          </button>
        </li>
      ))}
    </ul>
  );
}

function CreateToken({ create }: { readonly create: (values: FormValues) => Promise<void> }) {
  return (
    <details class="create">
      <summary>Create a token …</summary>
      <Form action="Create token" send={create} clear>
        <Field
          id="token_name"
          label="Name"
          required
          maxLength={80}
          autocomplete="off"
          hint="The program that uses it."
        />
        <div class="columns">
          <Select
            id="permissions"
            label="May"
            options={[
              ['write', 'Publish'],
              ['read', 'Read'],
              ['read write', 'Publish and read'],
            ]}
          />
          <Select
            id="expires_days"
            label="Expires"
            options={[
              ['0', 'Never'],
              ['30', 'After 30 days'],
              ['90', 'After 90 days'],
              ['365', 'After a year'],
            ]}
          />
        </div>
      </Form>
    </details>
  );
}
