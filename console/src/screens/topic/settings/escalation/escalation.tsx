import { useState } from 'preact/hooks';
import { call, CallFailed } from '../../../../api/call.ts';
import type { EscalationPolicy, Topic } from '../../../../api/wire.ts';
import { Section } from '../../../../parts/card.tsx';
import { ConfirmDialog } from '../../../../parts/confirm-dialog.tsx';
import { Loading } from '../../../../parts/loading.tsx';
import { toast } from '../../../../parts/toasts.tsx';
import { useLoad } from '../../../../parts/use-load.ts';
import { loadAccounts, type Account } from './load-accounts.ts';
import { PolicyForm } from './policy-form.tsx';
import { PolicySummary, unknownName } from './policy-summary.tsx';
import './escalation.css';

/** Which messages of the topic someone must acknowledge, and what happens until then. */
export function Escalation({ topic }: { readonly topic: Topic }) {
  const path = `/api/topics/${topic.id}/escalation`;
  const { loaded, reload } = useLoad(async () => {
    const [policy, accounts] = await Promise.all([findPolicy(path), loadAccounts(topic)]);
    return { policy, accounts: withNamed(accounts, policy) };
  }, path);
  const saved = async (text: string) => {
    await reload();
    toast(text);
  };
  return (
    <Section
      title="Escalation"
      hint="Important messages are pushed again, and to more people, until someone acknowledges them."
    >
      <Loading loaded={loaded} retry={reload} rows={2}>
        {({ policy, accounts }) => {
          const names = new Map(accounts.map(({ id, name }) => [id, name]));
          return (
            <>
              {policy === null ? (
                <p class="soft">No message of this topic needs an acknowledgement.</p>
              ) : (
                <div class="card">
                  <PolicySummary policy={policy} names={names} />
                </div>
              )}
              {/* A new policy starts with a closed form. */}
              <details key={JSON.stringify(policy)} class="create">
                <summary>{policy === null ? 'Set a policy …' : 'Change the policy …'}</summary>
                <PolicyForm
                  {...{ topic, policy, path, accounts, names }}
                  onSaved={() => saved('The escalation policy is saved.')}
                />
              </details>
              {policy !== null && (
                <RemovePolicy path={path} onRemoved={() => saved('The escalation policy is removed.')} />
              )}
            </>
          );
        }}
      </Loading>
    </Section>
  );
}

async function findPolicy(path: string): Promise<EscalationPolicy | null> {
  try {
    return await call<EscalationPolicy>('GET', path);
  } catch (error) {
    if (error instanceof CallFailed && error.status === 404) return null;
    throw error;
  }
}

/** Adds the accounts that the policy names and that the caller's teams do not contain. */
function withNamed(accounts: readonly Account[], policy: EscalationPolicy | null): readonly Account[] {
  const named = (policy?.steps ?? []).flatMap(({ to }) => ('users' in to ? to.users : []));
  const unknown = [...new Set(named)].filter((id) => !accounts.some((one) => one.id === id));
  return [...accounts, ...unknown.map((id) => ({ id, name: unknownName }))];
}

interface RemovePolicyProps {
  readonly path: string;
  readonly onRemoved: () => Promise<void>;
}

function RemovePolicy({ path, onRemoved }: RemovePolicyProps) {
  const [isAsking, setAsking] = useState(false);
  const remove = async () => {
    await call('DELETE', path);
    await onRemoved();
  };
  return (
    <>
      <button type="button" class="button danger" onClick={() => setAsking(true)}>
        Remove the policy
      </button>
      {isAsking && (
        <ConfirmDialog
          title="Remove the escalation policy?"
          action="Remove it"
          run={remove}
          onClose={() => setAsking(false)}
        >
          <p>New messages need no acknowledgement. Those that wait keep waiting, without further pushes.</p>
        </ConfirmDialog>
      )}
    </>
  );
}
