import type { Topic } from '../../../../api/wire.ts';
import { Checkbox, CheckboxGroup, Field, Select } from '../../../../parts/form.tsx';
import { inbox } from '../../../../state/inbox.ts';
import type { Account } from './load-accounts.ts';
import type { StepDraft, TeamRole } from './policy-draft.ts';

const kinds = [
  ['people', 'Push to people'],
  ['topic', 'Publish to a topic'],
] as const;

const roles = [
  ['', 'No role'],
  ['owner', 'The owner'],
  ['admin', 'Owner and admins'],
  ['member', 'All members'],
] as const;

interface StepFieldsProps {
  readonly step: StepDraft;
  readonly index: number;
  readonly topic: Topic;
  /** Accounts that a step can name. */
  readonly accounts: readonly Account[];
  readonly change: (part: Partial<StepDraft>) => void;
  readonly remove: () => void;
}

/** One step. The fields have the names that errors of the server begin with. */
export function StepFields({ step, index, topic, accounts, change, remove }: StepFieldsProps) {
  const name = `steps.${index}`;
  return (
    <fieldset class="step">
      <legend>Step {index + 1}</legend>
      <div class="columns">
        <Field
          id={`${name}.after`}
          label="After"
          required
          placeholder="5m"
          autocomplete="off"
          value={step.after}
          onInput={(event) => change({ after: event.currentTarget.value })}
        />
        <Select
          id={`${name}.to`}
          label="Then"
          options={kinds}
          value={step.kind}
          onChange={(kind) => change({ kind: kind as StepDraft['kind'] })}
        />
        {step.kind === 'topic' && (
          <Field
            id={`${name}.to.topic`}
            label="Topic"
            required
            list="managed-topics"
            autocomplete="off"
            value={step.topic}
            onInput={(event) => change({ topic: event.currentTarget.value })}
          />
        )}
        {step.kind === 'people' && topic.team_id !== null && (
          <Select
            id={`${name}.to.team_role`}
            label="By role in the team"
            options={roles}
            value={step.role}
            onChange={(role) => change({ role: role as TeamRole | '' })}
          />
        )}
      </div>
      {step.kind === 'people' && (
        <CheckboxGroup id={`${name}.to.users`} label="By name">
          {accounts.map(({ id, name: username }) => (
            <Checkbox
              key={id}
              id={`${name}.${id}`}
              label={username}
              checked={step.users.includes(id)}
              onChange={(event) => change({ users: chosen(step.users, id, event.currentTarget.checked) })}
            />
          ))}
        </CheckboxGroup>
      )}
      <button type="button" class="link-button" onClick={remove}>
        Remove step {index + 1}
      </button>
    </fieldset>
  );
}

function chosen(users: readonly string[], id: string, isChosen: boolean): readonly string[] {
  const others = users.filter((one) => one !== id);
  return isChosen ? [...others, id] : others;
}

/** Suggestions for the topics of steps. */
export function ManagedTopics({ topic }: { readonly topic: Topic }) {
  const managed = (inbox.value?.topics ?? []).filter(({ id, can_manage }) => can_manage && id !== topic.id);
  return (
    <datalist id="managed-topics">
      {managed.map(({ id, name }) => (
        <option key={id} value={name} />
      ))}
    </datalist>
  );
}
