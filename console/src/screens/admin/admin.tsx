import type { ComponentType } from 'preact';
import { Link } from 'wouter-preact';
import { NarrowCard, Note } from '../../parts/card.tsx';
import { Field, Form } from '../../parts/form.tsx';
import { adminPath } from '../../parts/paths.ts';
import { AuditLog } from './audit-log.tsx';
import { DeadLetters } from './dead-letters.tsx';
import { operatorToken } from '../../state/operator-token.ts';
import { enterToken, forgetToken, refusal } from './operator.ts';
import { Overview } from './overview.tsx';
import { Retention } from './retention.tsx';
import { Tiers } from './tiers.tsx';
import './admin.css';

interface Tab {
  readonly name: string;
  readonly title: string;
  readonly Content: ComponentType;
}

const tabs: readonly Tab[] = [
  { name: '', title: 'Overview', Content: Overview },
  { name: 'dead-letters', title: 'Dead letters', Content: DeadLetters },
  { name: 'retention', title: 'Retention', Content: Retention },
  { name: 'audit', title: 'Audit log', Content: AuditLog },
  { name: 'tiers', title: 'Tiers', Content: Tiers },
];

/** The screens of the operator, who identifies with ADMIN_TOKEN. */
export function Admin({ item }: { readonly item: string }) {
  if (operatorToken.value === null) return <EnterToken />;
  const tab = tabs.find(({ name }) => name === item);
  return (
    <div class="page admin">
      <header class="section-head">
        <h1>Operator</h1>
        <button type="button" class="button" onClick={() => forgetToken(null)}>
          Forget the token
        </button>
      </header>
      <nav class="tabs" aria-label="Operator">
        {tabs.map(({ name, title }) => (
          <Link key={name} href={adminPath(name)} aria-current={name === item ? 'page' : undefined}>
            {title}
          </Link>
        ))}
      </nav>
      {tab === undefined ? <p class="soft">The operator has no page with this name.</p> : <tab.Content />}
    </div>
  );
}

function EnterToken() {
  return (
    <div class="page enter-token">
      <NarrowCard title="Operator">
        <p class="soft">
          Health, dead letters, retention, the audit log and tiers of this server, for the holder of ADMIN_TOKEN.
        </p>
        {refusal.value !== null && <Note isBad text={refusal.value} />}
        <Form action="Continue" send={(values) => enterToken(values.text('token').trim())}>
          <Field
            id="token"
            label="Token of the operator"
            type="password"
            required
            autocomplete="off"
            hint="Stays in this tab and ends with it."
          />
        </Form>
      </NarrowCard>
    </div>
  );
}
