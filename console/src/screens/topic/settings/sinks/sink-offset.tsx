import { call } from '../../../../api/call.ts';
import type { Sink } from '../../../../api/wire.ts';
import { Dialog } from '../../../../parts/dialog.tsx';
import { Form, type FormValues } from '../../../../parts/form.tsx';
import { toast } from '../../../../parts/toasts.tsx';
import { startOfForm } from '../../log/log-start.ts';
import { resolveStart } from '../../log/read-log.ts';
import { StartFields } from '../../log/start-fields.tsx';

const choices = [
  ['beginning', 'The first stored message'],
  ['end', 'The end: only new messages'],
  ['offset', 'An offset'],
  ['time', 'A time'],
] as const;

interface SinkOffsetProps {
  readonly topic: string;
  /** Path of the list. */
  readonly path: string;
  readonly sink: Sink;
  readonly onDone: () => Promise<void>;
  readonly onClose: () => void;
}

/** Sets the record that a sink sends next. */
export function SinkOffset({ topic, path, sink, onDone, onClose }: SinkOffsetProps) {
  const save = async (values: FormValues) => {
    const offset = await resolveStart(topic, startOfForm(values, 'sink'));
    await call('PATCH', `${path}/${sink.id}`, { json: { offset } });
    await onDone();
    onClose();
    toast(`${sink.name} continues at offset ${offset}.`);
  };
  return (
    <Dialog title={`Set the offset of ${sink.name}`} onClose={onClose}>
      <Form action="Set the offset" send={save}>
        <StartFields
          prefix="sink"
          label="Continue at"
          choices={choices}
          start={{ kind: 'offset', offset: sink.offset }}
        />
        <p class="soft">A lower offset sends messages again, a higher one leaves some out.</p>
      </Form>
    </Dialog>
  );
}
