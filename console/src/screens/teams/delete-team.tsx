import { useLocation } from 'wouter-preact';
import { call } from '../../api/call.ts';
import type { Team } from '../../api/wire.ts';
import { Section } from '../../parts/card.tsx';
import { Field, Form, Select, type FormValues } from '../../parts/form.tsx';
import { isolate } from '../../parts/isolate.ts';
import { teamsPath } from '../../parts/paths.ts';
import { toast } from '../../parts/toasts.tsx';
import { loadInbox } from '../../state/inbox.ts';

export function DeleteTeam({ team }: { readonly team: Team }) {
  const [, navigate] = useLocation();
  const remove = async (values: FormValues) => {
    if (values.text('confirmation') !== team.name) throw new Error(`confirmation: enter ${team.name} to confirm`);
    await call('DELETE', `/api/teams/${team.id}?delete_topics=${values.text('topics') === 'delete'}`);
    // The list loads the teams again if this fails.
    await loadInbox().catch(() => undefined);
    navigate(teamsPath, { replace: true });
    toast(`${isolate(team.display_name)} is deleted.`);
  };
  return (
    <Section
      title="Delete the team"
      hint="As the owner you cannot leave the team, and ownership cannot be transferred. Deleting it ends all memberships and invites. This cannot be undone."
    >
      <details class="danger">
        <summary>Delete the team …</summary>
        <Form action="Delete the team" tone="danger" send={remove}>
          <Select
            id="topics"
            label="Topics of the team"
            options={[
              ['keep', 'Keep as my private topics'],
              ['delete', 'Delete with their messages'],
            ]}
          />
          <Field id="confirmation" label={`Enter ${team.name}`} required autocomplete="off" />
        </Form>
      </details>
    </Section>
  );
}
