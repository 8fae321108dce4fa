import { useState } from 'preact/hooks';
import { Field, Select } from '../../../parts/form.tsx';
import type { LogStart, StartKind } from './log-start.ts';

interface StartFieldsProps {
  /** Begins the names of the fields, see `startOfForm`. */
  readonly prefix: string;
  readonly label: string;
  readonly choices: readonly (readonly [kind: StartKind, text: string])[];
  readonly start: LogStart;
}

/** A choice of a place in the log, with a field for an offset or a time. */
export function StartFields({ prefix, label, choices, start }: StartFieldsProps) {
  const [kind, setKind] = useState<StartKind>(start.kind);
  return (
    <>
      <Select
        id={`${prefix}_start`}
        label={label}
        options={choices}
        value={kind}
        onChange={(chosen) => setKind(chosen as StartKind)}
      />
      {kind === 'offset' && (
        <Field
          id={`${prefix}_offset`}
          label="Offset"
          inputMode="numeric"
          required
          autocomplete="off"
          defaultValue={start.kind === 'offset' ? String(start.offset) : ''}
        />
      )}
      {kind === 'time' && (
        <Field
          id={`${prefix}_time`}
          label="Local time"
          type="datetime-local"
          step={1}
          required
          defaultValue={start.kind === 'time' ? localTime(start.time) : ''}
        />
      )}
    </>
  );
}

/** The value of a `datetime-local` field. */
function localTime(iso: string): string {
  const time = new Date(iso);
  return new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}
