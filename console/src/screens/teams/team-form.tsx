import { call } from '../../api/call.ts';
import type { Team } from '../../api/wire.ts';
import { Section } from '../../parts/card.tsx';
import { Field, Form, type FormValues } from '../../parts/form.tsx';
import { loadInbox } from '../../state/inbox.ts';
import { actOnTeam } from './act-on-team.ts';

const fields = ['display_name', 'description'] as const;

/** Inputs show no line breaks. */
const oneLine = (text: string): string => text.replaceAll(/[\r\n]/g, '');

interface TeamFormProps {
  readonly team: Team;
  readonly reload: () => Promise<void>;
}

/** Changes the display name and the description. */
export function TeamForm({ team, reload }: TeamFormProps) {
  const path = `/api/teams/${team.id}`;
  const save = async (values: FormValues) => {
    const changed = fields.filter((field) => values.text(field) !== oneLine(team[field]));
    const json = Object.fromEntries(changed.map((field) => [field, values.text(field)]));
    const change = async () => {
      const current = await call<Team>('GET', path);
      if (fields.some((field) => current[field] !== team[field])) {
        await reload();
        throw new Error(
          'Another admin changed the team meanwhile: the top of the page shows it. To replace it, save again.',
        );
      }
      await call('PATCH', path, { json });
    };
    const isDone = await actOnTeam(change, reload);
    void loadInbox().catch(() => undefined);
    return isDone ? 'Saved.' : undefined;
  };
  return (
    <Section title="Settings">
      {/* `clear`: the fields follow later changes of other admins. */}
      <Form action="Save" send={save} clear>
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
