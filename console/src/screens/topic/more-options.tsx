import { Checkbox, Field, Select } from '../../parts/form.tsx';
import { ownTimezone, type Draft } from './draft.ts';

interface MoreOptionsProps {
  readonly draft: Draft;
  readonly change: (part: Partial<Draft>) => void;
}

const lifetimes = [
  ['', 'As long as the topic keeps it'],
  ['1h', 'One hour'],
  ['1d', 'One day'],
] as const;

/** The fields of a message that most publishes leave out. The server checks them. */
export function MoreOptions({ draft, change }: MoreOptionsProps) {
  return (
    <div class="more-options">
      <Field
        id="click"
        label="Link that a tap opens"
        placeholder="https://…"
        autocomplete="off"
        value={draft.click}
        onInput={(event) => change({ click: event.currentTarget.value })}
      />
      <Field
        id="actions"
        label="Buttons"
        placeholder="view, Open the report, https://…; ack, I have it"
        autocomplete="off"
        value={draft.actions}
        onInput={(event) => change({ actions: event.currentTarget.value })}
      />
      <DeliveryTime draft={draft} change={change} />
      <Select id="ttl" label="Keep" options={lifetimes} value={draft.ttl} onChange={(ttl) => change({ ttl })} />
      <Checkbox
        id="silent"
        label="Silent push"
        checked={draft.silent}
        onChange={(event) => change({ silent: event.currentTarget.checked })}
      />
    </div>
  );
}

const times = [
  ['', 'Immediately'],
  ['in', 'After a while'],
  ['at', 'At a date and time'],
  ['words', 'At a time in words'],
] as const;

function DeliveryTime({ draft: { when, delay }, change }: MoreOptionsProps) {
  const field = {
    id: 'delay',
    required: true,
    autocomplete: 'off',
    value: delay,
    onInput: (event: Event) => change({ delay: (event.currentTarget as HTMLInputElement).value }),
  } as const;
  return (
    <>
      <Select
        id="when"
        label="Deliver"
        options={times}
        value={when}
        onChange={(chosen) => change({ when: chosen, delay: '' })}
      />
      {when === 'in' && <Field {...field} label="Time from now" placeholder="30m, 2 hours or 1d" />}
      {when === 'at' && <Field {...field} label={`Date and time in ${ownTimezone()}`} type="datetime-local" />}
      {when === 'words' && <Field {...field} label={`Time in ${ownTimezone()}`} placeholder="tomorrow, 10am" />}
    </>
  );
}
