import { useState } from 'preact/hooks';
import { call } from '../../../api/call.ts';
import type { Topic, TopicToken } from '../../../api/wire.ts';
import { Section } from '../../../parts/card.tsx';
import { ExpiryFields, expiryOf, expiryText } from '../../../parts/expiry.tsx';
import { Field, Form, Select, type FormValues } from '../../../parts/form.tsx';
import { Loading } from '../../../parts/loading.tsx';
import { NewSecret } from '../../../parts/new-secret.tsx';
import { isRemoved, remove } from '../../../parts/removals.ts';
import { RowButton } from '../../../parts/row-button.tsx';
import { publishSnippets, readSnippets, type Snippets } from '../../../parts/snippets.ts';
import { timeAgo } from '../../../parts/time/times.ts';
import { useLoad } from '../../../parts/use-load.ts';

type NewToken = TopicToken & { readonly token: string };

/** The tokens with which programs publish to the topic or read it. */
export function TopicTokens({ topic }: { readonly topic: Topic }) {
  const path = `/api/topics/${encodeURIComponent(topic.name)}/access-tokens`;
  const { loaded, reload } = useLoad(() => call<TopicToken[]>('GET', path), path);
  const [created, setCreated] = useState<NewToken | null>(null);
  const create = async (values: FormValues) => {
    const json = {
      name: values.text('token_name'),
      permissions: values.text('permissions').split(' '),
      ...expiryOf(values),
    };
    setCreated(await call<NewToken>('POST', path, { json }));
    await reload();
  };
  return (
    <Section title="Tokens" hint="A program publishes to the topic, or reads it, with a token instead of an account.">
      {created !== null && !isRemoved(created) && (
        <NewSecret
          key={created.id}
          kind="token"
          name={created.name}
          secret={created.token}
          snippets={snippetsOf(topic, created)}
        />
      )}
      <Loading loaded={loaded} retry={reload} rows={2}>
        {(tokens) => <TokenList tokens={tokens.filter((token) => !isRemoved(token))} path={path} />}
      </Loading>
      <CreateToken key={created?.id ?? 'first'} create={create} />
    </Section>
  );
}

/** Lines that publish to the topic or, if the token only permits reading, print its history. */
function snippetsOf({ name }: Topic, { permissions, token: secret }: NewToken): Snippets {
  const url = `${location.origin}/${name}`;
  const credential = { header: 'X-Topic-Token', secret } as const;
  return permissions.includes('write') ? publishSnippets(url, credential) : readSnippets(`${url}/json`, credential);
}

interface TokenListProps {
  readonly tokens: readonly TopicToken[];
  /** Path of the list. */
  readonly path: string;
}

function TokenList({ tokens, path }: TokenListProps) {
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
              {expiryText(token.expires_at)}
            </div>
          </div>
          <RowButton text="Delete" name={token.name} onClick={() => removeToken(token, path)} />
        </li>
      ))}
    </ul>
  );
}

function removeToken({ id, name }: TopicToken, path: string): void {
  const text = (
    <>
      The token <bdi>{name}</bdi> is deleted.
    </>
  );
  remove({ id, path: `${path}/${id}`, text });
}

function CreateToken({ create }: { readonly create: (values: FormValues) => Promise<void> }) {
  return (
    <details class="create">
      <summary>Create a token …</summary>
      <Form action="Create token" send={create}>
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
          <ExpiryFields />
        </div>
      </Form>
    </details>
  );
}
