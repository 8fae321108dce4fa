import type { ComponentChildren, JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';

interface FieldProps extends Omit<JSX.InputHTMLAttributes, 'id' | 'label'> {
  readonly id: string;
  readonly label: string;
  readonly hint?: string;
}

/** A labelled input. Screen readers announce `hint` with it. */
export function Field({ id, label, hint, ...input }: FieldProps) {
  const hintId = hint === undefined ? undefined : `${id}-hint`;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input id={id} name={id} type="text" aria-describedby={hintId} {...input} />
      {hint !== undefined && (
        <p class="hint" id={hintId}>
          {hint}
        </p>
      )}
    </div>
  );
}

interface SelectProps {
  readonly id: string;
  readonly label: string;
  readonly options: readonly (readonly [value: string, text: string])[];
  readonly value?: string;
  readonly onChange?: (value: string) => void;
}

export function Select({ id, label, options, value, onChange }: SelectProps) {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select id={id} name={id} defaultValue={value} onChange={(event) => onChange?.(event.currentTarget.value)}>
        {options.map(([option, text]) => (
          <option key={option} value={option} selected={option === value}>
            {text}
          </option>
        ))}
      </select>
    </div>
  );
}

interface CheckboxProps extends Omit<JSX.InputHTMLAttributes, 'id' | 'label'> {
  readonly id: string;
  readonly label: string;
}

export function Checkbox({ id, label, ...input }: CheckboxProps) {
  return (
    <label class="check">
      <input id={id} name={id} type="checkbox" {...input} />
      <span>{label}</span>
    </label>
  );
}

/** The values of a form's fields by name; `true` and `false` for a checkbox. */
export class FormValues {
  readonly #values: ReadonlyMap<string, string | boolean>;

  constructor(form: HTMLFormElement) {
    const fields = [...form.elements] as HTMLInputElement[];
    this.#values = new Map(
      fields.map((field) => [field.name, field.type === 'checkbox' ? field.checked : field.value]),
    );
  }

  text(name: string): string {
    return String(this.#values.get(name) ?? '');
  }

  isChecked(name: string): boolean {
    return this.#values.get(name) === true;
  }
}

interface FormProps {
  /** The text of the submit button. */
  readonly action: string;
  /** Resolves with a text to show after success. The form shows the message of its error. */
  readonly send: (values: FormValues) => Promise<string | void> | string | void;
  /** Empties the fields after success. */
  readonly clear?: boolean;
  readonly tone?: 'primary' | 'plain' | 'danger';
  readonly children?: ComponentChildren;
}

/** A form that cannot be submitted twice concurrently. */
export function Form({ action, send, clear = false, tone = 'primary', children }: FormProps) {
  const form = useRef<HTMLFormElement>(null);
  const [isBusy, setBusy] = useState(false);
  const [note, setNote] = useState<{ readonly isGood: boolean; readonly text: string } | null>(null);
  const submit = async (event: Event) => {
    event.preventDefault();
    if (isBusy || form.current === null) return;
    setBusy(true);
    setNote(null);
    try {
      const text = await send(new FormValues(form.current));
      setNote(typeof text === 'string' ? { isGood: true, text } : null);
      if (clear) form.current?.reset();
    } catch (error) {
      setNote({ isGood: false, text: (error as Error).message });
    } finally {
      setBusy(false);
    }
  };
  return (
    <form ref={form} class="form" onSubmit={(event) => void submit(event)}>
      {children}
      <p class={`note ${note === null ? '' : note.isGood ? 'good' : 'bad'}`} role="status">
        {note?.text}
      </p>
      <div class="form-actions">
        <button type="submit" class={`button ${tone}`} disabled={isBusy}>
          {action}
        </button>
      </div>
    </form>
  );
}
