import { useRef } from 'preact/hooks';
import { call } from '../../api/call.ts';
import type { Team } from '../../api/wire.ts';
import { Section } from '../../parts/card.tsx';
import { Field, Form, type FormValues } from '../../parts/form.tsx';
import { loadInbox } from '../../state/inbox.ts';
import { actOnTeam } from './act-on-team.ts';

interface TeamFormProps {
  readonly team: Team;
  readonly reload: () => Promise<void>;
}

/** Changes the display name and the description. */
export function TeamForm({ team, reload }: TeamFormProps) {
  const path = `/api/teams/${team.id}`;
  /** The values that the user has seen. */
  const seen = useRef(team);
  const save = async (values: FormValues) => {
    const json = { display_name: values.text('display_name'), description: values.text('description') };
    const current = await call<Team>('GET', path);
    const isChanged =
      current.display_name !== seen.current.display_name || current.description !== seen.current.description;
    seen.current = current;
    if (isChanged) {
      await reload();
      throw new Error(
        'Another admin changed the team meanwhile: the top of the page shows it. To replace it, save again.',
      );
    }
    const isDone = await actOnTeam(async () => {
      seen.current = await call<Team>('PATCH', path, { json });
    }, reload);
    void loadInbox().catch(() => undefined);
    return isDone ? 'Saved.' : undefined;
  };
  return (
    <Section title="Settings">
      <Form action="Save" send={save}>
        <Field
          id="display_name"
          label="Display name"
          required
          maxLength={80}
          autocomplete="off"
          dir="auto"
          defaultValue={team.display_name}
        />
        <Field
          id="team_description"
          name="description"
          label="Team description"
          maxLength={1_000}
          dir="auto"
          defaultValue={team.description}
        />
        <p class="hint">The name {team.name} cannot be changed.</p>
      </Form>
    </Section>
  );
}
