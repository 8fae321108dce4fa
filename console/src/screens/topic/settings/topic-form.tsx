import { useLocation } from 'wouter-preact';
import { call } from '../../../api/call.ts';
import type { Topic } from '../../../api/wire.ts';
import { Section } from '../../../parts/card.tsx';
import { Checkbox, Field, Form, Select, type FormValues } from '../../../parts/form.tsx';
import { topicSettingsPath } from '../../../parts/paths.ts';
import { toast, toastError } from '../../../parts/toasts.tsx';
import { loadInbox } from '../../../state/inbox.ts';

interface TopicFormProps {
  readonly topic: Topic;
  readonly onChanged: () => Promise<void>;
}

export function TopicForm({ topic, onChanged }: TopicFormProps) {
  const [, navigate] = useLocation();
  const save = async (values: FormValues) => {
    const days = values.text('retention_days');
    const json = {
      name: values.text('name'),
      description: values.text('description'),
      access_level: values.text('access_level'),
      is_discoverable: values.isChecked('is_discoverable'),
      retention_days: days === '' ? null : Number(days),
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
      <Form action="Save" send={save}>
        <div class="columns">
          <Field id="name" label="Name" required maxLength={64} autocomplete="off" defaultValue={topic.name} />
          <Select
            id="access_level"
            label="Access"
            value={topic.access_level}
            options={[
              ['public', 'Anyone who knows the name'],
              ['private', 'Only accounts with access'],
            ]}
          />
        </div>
        <Field
          id="description"
          label="Description"
          maxLength={1_000}
          defaultValue={topic.description}
          hint="Required for a listed topic."
        />
        <Field
          id="retention_days"
          label="Days to keep messages"
          type="number"
          min={1}
          defaultValue={topic.retention_days ?? ''}
          hint="Empty: as long as the tier of the topic's owner permits. Also applies to stored messages."
        />
        <Checkbox
          id="is_discoverable"
          label="List the topic in the topic search"
          defaultChecked={topic.is_discoverable}
        />
      </Form>
    </Section>
  );
}
