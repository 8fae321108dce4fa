import { useState } from 'preact/hooks';
import { call, CallFailed } from '../../../../api/call.ts';
import type { EscalationPolicy, Topic } from '../../../../api/wire.ts';
import { Checkbox, Field, Form, Select } from '../../../../parts/form.tsx';
import { Icon } from '../../../../parts/icon.tsx';
import { isolate } from '../../../../parts/isolate.ts';
import { priorities } from '../../notifications/priorities.ts';
import type { Account } from './load-accounts.ts';
import { draftOf, emptyStep, policyOf, stepErrorFields, type PolicyDraft, type StepDraft } from './policy-draft.ts';
import { PolicySummary } from './policy-summary.tsx';
import { ManagedTopics, StepFields } from './step-fields.tsx';

const stepsMax = 5;

interface PolicyFormProps {
  readonly topic: Topic;
  readonly policy: EscalationPolicy | null;
  readonly path: string;
  readonly accounts: readonly Account[];
  readonly names: ReadonlyMap<string, string>;
  readonly onSaved: () => Promise<void>;
}

/** Sets the policy of a topic, and shows what the one in the form would do. */
export function PolicyForm({ topic, policy, path, accounts, names, onSaved }: PolicyFormProps) {
  const [draft, setDraft] = useState(() => draftOf(policy));
  const change = (part: Partial<PolicyDraft>) => setDraft((current) => ({ ...current, ...part }));
  const { steps } = draft;
  const changeStep = (key: number, part: Partial<StepDraft>) =>
    change({ steps: steps.map((step) => (step.key === key ? { ...step, ...part } : step)) });
  const addStep = () => change({ steps: [...steps, emptyStep(Math.max(-1, ...steps.map(({ key }) => key)) + 1)] });
  const save = async () => {
    try {
      await call('PUT', path, { json: policyOf(draft) });
    } catch (error) {
      throw error instanceof CallFailed ? new Error(readable(error.message, names)) : error;
    }
    await onSaved();
  };
  return (
    <Form action="Save the policy" send={save} errorFields={stepErrorFields(draft)}>
      <MessageFields draft={draft} change={change} />
      {steps.map((step, index) => (
        <StepFields
          key={step.key}
          {...{ step, index, topic, accounts }}
          change={(part) => changeStep(step.key, part)}
          remove={() => change({ steps: steps.filter(({ key }) => key !== step.key) })}
        />
      ))}
      <ManagedTopics topic={topic} />
      {steps.length < stepsMax && (
        <button type="button" class="button add-step" onClick={addStep}>
          <Icon name="plus" />
          Add a step
        </button>
      )}
      <Checkbox
        id="auto_ack_on_resolve"
        label="A resolved alert acknowledges its message"
        checked={draft.autoAck}
        onChange={(event) => change({ autoAck: event.currentTarget.checked })}
      />
      <div class="what-happens" role="group" aria-label="What will happen">
        <h3>What will happen</h3>
        <PolicySummary policy={policyOf(draft)} names={names} />
      </div>
    </Form>
  );
}

interface MessageFieldsProps {
  readonly draft: PolicyDraft;
  readonly change: (part: Partial<PolicyDraft>) => void;
}

function MessageFields({ draft, change }: MessageFieldsProps) {
  return (
    <div class="columns">
      <Select
        id="min_priority"
        label="Needs acknowledgement"
        options={priorities}
        value={draft.minPriority}
        onChange={(minPriority) => change({ minPriority })}
      />
      <Field
        id="repeat_every"
        label="Push again every"
        required
        autocomplete="off"
        hint="30s to 1h, such as 2m."
        value={draft.repeatEvery}
        onInput={(event) => change({ repeatEvery: event.currentTarget.value })}
      />
      <Field
        id="repeat_max"
        label="At most (times)"
        type="number"
        required
        hint="0: not again."
        value={draft.repeatMax}
        onInput={(event) => change({ repeatMax: event.currentTarget.value })}
      />
    </div>
  );
}

/** The error text of the server with names of accounts instead of their IDs, and with the words of the form. */
function readable(text: string, names: ReadonlyMap<string, string>): string {
  return [...names]
    .reduce((result, [id, name]) => result.replaceAll(id, isolate(name)), text)
    .replaceAll('must have either users or team_role, or topic', 'choose at least one person or role');
}
