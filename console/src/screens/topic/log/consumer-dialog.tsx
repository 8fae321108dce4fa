import { call } from '../../../api/call.ts';
import type { Consumer } from '../../../api/wire.ts';
import { Dialog } from '../../../parts/dialog.tsx';
import { Field, Form, type FormValues } from '../../../parts/form.tsx';
import { toast } from '../../../parts/toasts.tsx';
import { startOfForm } from './log-start.ts';
import { resolveStart } from './read-log.ts';
import { StartFields } from './start-fields.tsx';

const choices = [
  ['beginning', 'The beginning of the log'],
  ['end', 'The end: only new records'],
  ['offset', 'An offset'],
  ['time', 'A time'],
] as const;

/** The name of a new consumer is part of its URL, which the server would refuse as a whole. */
const consumerName = /^[A-Za-z0-9_-]{1,64}$/;

interface ConsumerDialogProps {
  readonly topic: string;
  /** Null: creates one. */
  readonly consumer: Consumer | null;
  /** The names of the account's consumers of the topic. */
  readonly names: readonly string[];
  readonly onDone: () => Promise<void>;
  readonly onClose: () => void;
}

/** Creates a consumer or sets its offset. */
export function ConsumerDialog({ topic, consumer, names, onDone, onClose }: ConsumerDialogProps) {
  const save = async (values: FormValues) => {
    const name = consumer?.name ?? newName(values.text('consumer_name').trim(), names);
    const offset = await resolveStart(topic, startOfForm(values, 'consumer'));
    await call('PUT', consumerPath(topic, name), { json: { offset } });
    await onDone();
    onClose();
    toast(`${name} continues at offset ${offset}.`);
  };
  const title = consumer === null ? 'Create a consumer' : `Set the offset of ${consumer.name}`;
  return (
    <Dialog title={title} onClose={onClose}>
      <Form action={consumer === null ? 'Create consumer' : 'Set the offset'} send={save}>
        {consumer === null && (
          <Field
            id="consumer_name"
            label="Name"
            required
            maxLength={64}
            autocomplete="off"
            hint="Letters, digits, dashes and underscores."
          />
        )}
        <StartFields
          prefix="consumer"
          label="Continue at"
          choices={choices}
          start={consumer === null ? { kind: 'beginning' } : { kind: 'offset', offset: consumer.offset }}
        />
        {consumer !== null && (
          <p class="soft">A running program that stores its own offset afterwards overwrites this one.</p>
        )}
      </Form>
    </Dialog>
  );
}

export const consumerPath = (topic: string, name: string): string =>
  `/api/topics/${encodeURIComponent(topic)}/consumers/${encodeURIComponent(name)}`;

/** Throws an Error for the user: storing the offset of an existing consumer would move it. */
function newName(name: string, names: readonly string[]): string {
  if (!consumerName.test(name)) throw new Error('Enter 1 to 64 letters, digits, dashes or underscores as the name.');
  if (names.some((known) => known.toLowerCase() === name.toLowerCase()))
    throw new Error(`You have a consumer ${name}. Choose another name, or set the offset of that one.`);
  return name;
}
