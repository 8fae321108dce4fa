import { useLocation } from 'wouter-preact';
import { call } from '../../api/call.ts';
import type { Team } from '../../api/wire.ts';
import { Section } from '../../parts/card.tsx';
import { Field, Form, type FormValues } from '../../parts/form.tsx';
import { teamPath } from '../../parts/paths.ts';
import { loadInbox } from '../../state/inbox.ts';

const errorFields = { 'Team name already exists': 'name' };

export function CreateTeam({ tier }: { readonly tier: string }) {
  const [, navigate] = useLocation();
  const create = async (values: FormValues) => {
    const json = {
      name: values.text('name'),
      display_name: values.text('display_name'),
      description: values.text('description'),
    };
    const { id } = await call<Team>('POST', '/api/teams', { json });
    // The team's page loads what it shows; the navigation can wait for the next refresh.
    await loadInbox().catch(() => undefined);
    navigate(teamPath(id));
  };
  if (tier !== 'TEAM')
    return (
      <Section title="Create a team">
        <p class="soft">
          Creating a team requires the TEAM tier, and your account has the tier {tier}. To change it, contact the
          operator of this server. You can be a member or an admin of other teams with any tier.
        </p>
      </Section>
    );
  return (
    <details class="section create">
      <summary>Create a team …</summary>
      <Form action="Create team" send={create} errorFields={errorFields}>
        <div class="columns">
          <Field id="display_name" label="Display name" required maxLength={80} autocomplete="off" />
          <Field
            id="name"
            label="Name"
            required
            maxLength={40}
            autocomplete="off"
            hint="2 to 40 of the characters a-z, 0-9 and -. It is unique and cannot be changed."
          />
        </div>
        <Field id="description" label="Description" maxLength={1_000} />
      </Form>
    </details>
  );
}
