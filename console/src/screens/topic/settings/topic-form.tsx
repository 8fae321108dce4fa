import { useLocation } from 'wouter-preact';
import { call } from '../../../api/call.ts';
import type { Topic } from '../../../api/wire.ts';
import { Section } from '../../../parts/card.tsx';
import { Checkbox, Field, Form, type FormValues } from '../../../parts/form.tsx';
import { topicSettingsPath } from '../../../parts/paths.ts';
import { toast, toastError } from '../../../parts/toasts.tsx';
import { loadInbox } from '../../../state/inbox.ts';
import { topicErrorFields, TopicFields, topicOfForm } from '../topic-fields.tsx';

interface TopicFormProps {
  readonly topic: Topic;
  readonly onChanged: () => Promise<void>;
}

export function TopicForm({ topic, onChanged }: TopicFormProps) {
  const [, navigate] = useLocation();
  const save = async (values: FormValues) => {
    const days = values.text('retention_days');
    const archive = values.isChecked('archive');
    const json = {
      ...topicOfForm(values),
      retention_days: days === '' ? null : Number(days),
      // Unchanged, the topic keeps following the operator's default.
      ...(archive === topic.archive ? {} : { archive }),
    };
    const { name } = await call<Topic>('PATCH', `/api/topics/${topic.id}`, { json });
    loadInbox().catch(toastError);
    if (name === topic.name) {
      await onChanged();
      return 'Saved.';
    }
    toast('Saved. The former name no longer leads here.');
    return navigate(topicSettingsPath(name), { replace: true });
  };
  return (
    <Section title="Settings">
      <Form action="Save" send={save} errorFields={topicErrorFields}>
        <TopicFields topic={topic} />
        <Field
          id="retention_days"
          label="Days to keep messages"
          type="number"
          min={1}
          defaultValue={topic.retention_days ?? ''}
          hint="Empty: as long as the tier of the topic's owner permits. Also applies to stored messages."
        />
        <Checkbox
          id="archive"
          label="Archive expired messages, if the server has an archive"
          defaultChecked={topic.archive}
        />
      </Form>
    </Section>
  );
}
