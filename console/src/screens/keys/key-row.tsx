import { useState } from 'preact/hooks';
import { call } from '../../api/call.ts';
import type { ApiKey } from '../../api/wire.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { expiryText } from '../../parts/expiry.tsx';
import { Form } from '../../parts/form.tsx';
import { remove } from '../../parts/removals.ts';
import { RowButton } from '../../parts/row-button.tsx';
import { timeAgo } from '../../parts/time/times.ts';
import { toast, toastError } from '../../parts/toasts.tsx';
import { scopesText } from './scopes.ts';

interface KeyProps {
  readonly apiKey: ApiKey;
  readonly reload: () => Promise<void>;
}

type State = 'active' | 'revoked' | 'expired';

function stateOf({ is_active: isActive, expires_at: expiresAt }: ApiKey): State {
  if (expiresAt !== null && Date.parse(expiresAt) <= Date.now()) return 'expired';
  return isActive ? 'active' : 'revoked';
}

const badges: Readonly<Record<State, string>> = { active: 'sent', revoked: 'failed', expired: 'skipped' };

export function KeyRow({ apiKey, reload }: KeyProps) {
  const { id, name } = apiKey;
  const [isRevoking, setRevoking] = useState(false);
  const state = stateOf(apiKey);
  const enable = async () => {
    try {
      await call('POST', `/api/keys/${id}/enable`);
      await reload();
    } catch (error) {
      toastError(error);
    }
  };
  const removeKey = () => {
    const text = (
      <>
        The key <bdi>{name}</bdi> is deleted.
      </>
    );
    remove({ id, path: `/api/keys/${id}`, text });
  };
  return (
    <li>
      <div class="grow">
        <div class="row-title">
          <span dir="auto">{name}</span>
          <span class={`badge ${badges[state]}`}>{state}</span>
        </div>
        <KeyFacts apiKey={apiKey} />
      </div>
      <div class="row-actions">
        {state === 'active' ? (
          <RowButton text="Revoke" name={name} onClick={() => setRevoking(true)} />
        ) : (
          state === 'revoked' && <RowButton text="Enable" name={name} onClick={() => void enable()} />
        )}
        {state !== 'active' && <RowButton text="Delete" name={name} onClick={removeKey} />}
      </div>
      {isRevoking && <RevokeKey apiKey={apiKey} reload={reload} onClose={() => setRevoking(false)} />}
    </li>
  );
}

function KeyFacts({ apiKey }: { readonly apiKey: ApiKey }) {
  const { key_prefix: prefix, description, request_count: requests, last_used_at: lastUsed } = apiKey;
  return (
    <>
      {description !== '' && (
        <p class="soft" dir="auto">
          {description}
        </p>
      )}
      <div class="soft">
        <code>{prefix}…</code> · {scopesText(apiKey)}
      </div>
      <div class="soft">
        {lastUsed === null
          ? 'never used'
          : `used ${timeAgo(lastUsed)}, ${requests === 1 ? '1 request' : `${requests} requests`}`}{' '}
        · {expiryText(apiKey.expires_at)}
      </div>
    </>
  );
}

function RevokeKey({ apiKey, reload, onClose }: KeyProps & { readonly onClose: () => void }) {
  const name = <bdi>{apiKey.name}</bdi>;
  const revoke = async () => {
    await call('POST', `/api/keys/${apiKey.id}/revoke`);
    onClose();
    toast(<>The key {name} is revoked.</>);
    await reload();
  };
  return (
    <Dialog title="Revoke the key" onClose={onClose}>
      <Form action="Revoke" tone="danger" send={revoke}>
        <p>
          Within 5 seconds the server refuses every program that uses the key {name}, and ends its streams. You can
          enable the key again.
        </p>
      </Form>
    </Dialog>
  );
}
