import { createContext, type ComponentChildren, type JSX } from 'preact';
import { useContext, useEffect, useRef, useState } from 'preact/hooks';

/** The error of each field of the form, by field name. */
const FieldErrors = createContext<ReadonlyMap<string, string>>(new Map());

interface FieldProps extends Omit<JSX.InputHTMLAttributes, 'id' | 'label'> {
  readonly id: string;
  readonly label: string;
  readonly hint?: string;
}

/** A labelled input. Screen readers announce its error and `hint` with it. */
export function Field({ id, label, hint, ...input }: FieldProps) {
  const hintId = hint === undefined ? undefined : `${id}-hint`;
  const error = useFieldError(id, input.name === undefined ? id : String(input.name));
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        name={id}
        type="text"
        aria-invalid={error.isInvalid}
        aria-describedby={[error.noteId, hintId].filter((one) => one !== undefined).join(' ') || undefined}
        {...input}
      />
      {error.note}
      {hint !== undefined && (
        <p class="hint" id={hintId}>
          {hint}
        </p>
      )}
    </div>
  );
}

function useFieldError(id: string, name: string) {
  const text = useContext(FieldErrors).get(name);
  if (text === undefined) return { isInvalid: undefined, noteId: undefined, note: null };
  const noteId = `${id}-error`;
  const note = (
    <p class="field-error" id={noteId}>
      {text}
    </p>
  );
  return { isInvalid: true, noteId, note };
}

interface SelectProps {
  readonly id: string;
  readonly label: string;
  readonly options: readonly (readonly [value: string, text: string])[];
  readonly value?: string;
  /** Options that cannot be chosen. */
  readonly isDisabled?: (option: string) => boolean;
  readonly onChange?: (value: string) => void;
}

export function Select({ id, label, options, value, isDisabled, onChange }: SelectProps) {
  const error = useFieldError(id, id);
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select
        id={id}
        name={id}
        defaultValue={value}
        aria-invalid={error.isInvalid}
        aria-describedby={error.noteId}
        onChange={(event) => onChange?.(event.currentTarget.value)}
      >
        {options.map(([option, text]) => (
          <option key={option} value={option} selected={option === value} disabled={isDisabled?.(option)}>
            {text}
          </option>
        ))}
      </select>
      {error.note}
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

interface CheckboxGroupProps {
  /** The field that errors of the server name. */
  readonly id: string;
  readonly label: string;
  readonly children: ComponentChildren;
}

/** Checkboxes of one field. */
export function CheckboxGroup({ id, label, children }: CheckboxGroupProps) {
  const error = useFieldError(id, id);
  return (
    <fieldset class="choices" name={id} aria-describedby={error.noteId}>
      <legend>{label}</legend>
      {children}
      {error.note}
    </fieldset>
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
  /** The field that an error text of the server concerns, if the text does not begin with the field's name. */
  readonly errorFields?: Readonly<Record<string, string>>;
  /** Shown next to the submit button. */
  readonly aside?: ComponentChildren;
  readonly children?: ComponentChildren;
}

/** Fields, and the first one of a group, with an error. */
const refusedField = '[aria-invalid], fieldset[aria-describedby] input';

const noErrors: ReadonlyMap<string, string> = new Map();

/** A form that cannot be submitted twice concurrently. Shows each error next to the field that it concerns. */
export function Form({ action, send, clear = false, tone = 'primary', errorFields = {}, aside, children }: FormProps) {
  const form = useRef<HTMLFormElement>(null);
  const [isBusy, setBusy] = useState(false);
  const [errors, setErrors] = useState(noErrors);
  useEffect(() => form.current?.querySelector<HTMLElement>(refusedField)?.focus(), [errors]);
  const [note, setNote] = useState<{ readonly isGood: boolean; readonly text: string } | null>(null);
  const submit = async (event: Event) => {
    event.preventDefault();
    if (isBusy || form.current === null) return;
    setBusy(true);
    setNote(null);
    setErrors(noErrors);
    try {
      const text = await send(new FormValues(form.current));
      setNote(typeof text === 'string' ? { isGood: true, text } : null);
      if (clear) form.current?.reset();
    } catch (error) {
      const { fields, rest } = assignErrors((error as Error).message, form.current, errorFields);
      setErrors(fields);
      setNote(rest === '' ? null : { isGood: false, text: rest });
    } finally {
      setBusy(false);
    }
  };
  return (
    <form ref={form} class="form" onSubmit={(event) => void submit(event)}>
      <FieldErrors.Provider value={errors}>{children}</FieldErrors.Provider>
      <p class={`note ${note === null ? '' : note.isGood ? 'good' : 'bad'}`} role="status">
        {note?.text}
      </p>
      <div class="form-actions">
        <button type="submit" class={`button ${tone}`} disabled={isBusy}>
          {action}
        </button>
        {aside}
      </div>
    </form>
  );
}

/** Splits an error text of the form `field: rule; field: rule` into those of the form's fields and the rest. */
function assignErrors(
  text: string,
  form: HTMLFormElement | null,
  errorFields: Readonly<Record<string, string>>,
): { readonly fields: ReadonlyMap<string, string>; readonly rest: string } {
  const names = new Set([...(form?.elements ?? [])].map((element) => (element as HTMLInputElement).name));
  const fields = new Map<string, string>();
  const rest: string[] = [];
  for (const part of text.split(/; (?=[a-z_][a-z0-9_.]*: )/)) {
    const [, prefix = '', rule = part] = /^([a-z_][a-z0-9_.]*): (.+)$/s.exec(part) ?? [];
    const name = nearestField(errorFields[part] ?? prefix, names);
    if (name !== undefined && fields.has(name)) continue;
    if (name !== undefined) fields.set(name, `${rule.charAt(0).toUpperCase()}${rule.slice(1)}.`);
    else rest.push(part);
  }
  return { fields, rest: rest.join('; ') };
}

/** The field with this name, or that contains it: `steps.0.to` for `steps.0.to.users.1` if no field is closer. */
function nearestField(name: string, names: ReadonlySet<string>): string | undefined {
  const parts = name.split('.');
  const paths = parts.map((_, index) => parts.slice(0, parts.length - index).join('.'));
  return paths.find((path) => path !== '' && names.has(path));
}
