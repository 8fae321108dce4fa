import { call } from '../../api/call.ts';
import type { Message } from '../../api/wire.ts';
import { Field, Form, type FormValues } from '../../parts/form.tsx';

interface EditMessageProps {
  readonly message: Message;
  readonly onSaved: (message: Message) => void;
  readonly onClose: () => void;
}

export function EditMessage({ message, onSaved, onClose }: EditMessageProps) {
  const textId = `text-${message.id}`;
  const titleId = `title-${message.id}`;
  const save = async (values: FormValues) => {
    const json = { message: values.text(textId), title: values.text(titleId) || null };
    const path = `/api/${encodeURIComponent(message.topic)}/messages/${message.id}`;
    const edited = await call<Pick<Message, 'message' | 'title' | 'edited_at'>>('PATCH', path, { json });
    onSaved({ ...message, ...edited, is_edited: true });
    onClose();
  };
  return (
    <div class="panel">
      <Form action="Save" send={save}>
        <Field id={titleId} label="Title" maxLength={250} defaultValue={message.title ?? ''} autocomplete="off" />
        <div class="field">
          <label for={textId}>Text</label>
          <textarea id={textId} name={textId} rows={3} required dir="auto" defaultValue={message.message} />
        </div>
      </Form>
      <button type="button" class="link-button" onClick={onClose}>
        Cancel
      </button>
    </div>
  );
}
