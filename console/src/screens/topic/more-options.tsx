import { Checkbox, Field, Select } from '../../parts/form.tsx';
import type { Draft } from './draft.ts';

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
