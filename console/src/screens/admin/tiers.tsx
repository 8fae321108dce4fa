import { useState } from 'preact/hooks';
import type { AuditEntry, OperatorUser } from '../../api/wire.ts';
import { Section } from '../../parts/card.tsx';
import { Field, Form, Select, type FormValues } from '../../parts/form.tsx';
import { Loading } from '../../parts/loading.tsx';
import { completeTime } from '../../parts/time/times.ts';
import { useLoad } from '../../parts/use-load.ts';
import { AuditRow } from './audit-row.tsx';
import { callAsOperator } from './operator.ts';

const changesPath = '/admin/audit?action=account.tier_changed&limit=20';

/** Sets the tier of an account and shows the latest changes. */
export function Tiers() {
  const [user, setUser] = useState<OperatorUser | null>(null);
  const { loaded, reload } = useLoad(
    () => callAsOperator<{ entries: readonly AuditEntry[] }>('GET', changesPath),
    changesPath,
  );
  const set = async (values: FormValues) => {
    const [expires, seats] = [values.text('expires_at'), values.text('additional_members')];
    const json = {
      tier: values.text('tier'),
      ...(expires === '' ? {} : { expires_at: new Date(expires).toISOString() }),
      ...(seats === '' ? {} : { additional_members: Number(seats) }),
    };
    setUser(null);
    const path = `/admin/users/${encodeURIComponent(values.text('email').trim())}/tier`;
    setUser(await callAsOperator<OperatorUser>('PUT', path, { json }));
    void reload();
  };
  return (
    <>
      <Section title="Set a tier" hint="Takes effect immediately. The owner of a team needs the TEAM tier.">
        <div class="card">
          <Form action="Set the tier" send={set}>
            <Field id="email" label="Email of the account" type="email" required autocomplete="off" />
            <div class="columns">
              <Select
                id="tier"
                label="Tier"
                options={['FREE', 'ESSENTIALS', 'TEAM'].map((tier) => [tier, tier] as const)}
              />
              <Field id="expires_at" label="Expires" type="datetime-local" hint="Empty: as before." />
              <Field
                id="additional_members"
                label="Additional seats"
                type="number"
                min={0}
                hint="Of the owner's teams. Empty: as before."
              />
            </div>
          </Form>
          {user !== null && <Outcome user={user} />}
        </div>
      </Section>
      <Section title="Latest changes">
        <Loading loaded={loaded} retry={reload} rows={3}>
          {({ entries }) =>
            entries.length === 0 ? (
              <p class="soft">No tier has been changed.</p>
            ) : (
              <ul class="rows">
                {entries.map((entry) => (
                  <AuditRow key={entry.id} entry={entry} />
                ))}
              </ul>
            )
          }
        </Loading>
      </Section>
    </>
  );
}

function Outcome({ user }: { readonly user: OperatorUser }) {
  const { username, email, subscription_tier: tier, subscription_expires_at: expiresAt } = user;
  return (
    <p class="note good" role="status">
      <bdi>{username}</bdi> (<bdi>{email}</bdi>) has the tier {tier},{' '}
      {expiresAt === null ? 'without an end' : `until ${completeTime(expiresAt)}`}, and {user.additional_members}{' '}
      additional seats.
    </p>
  );
}
