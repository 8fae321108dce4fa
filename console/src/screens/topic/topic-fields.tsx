import type { Topic } from '../../api/wire.ts';
import { Checkbox, Field, Select, type FormValues } from '../../parts/form.tsx';

/** The fields of a new topic, or of an existing one with its values. */
export function TopicFields({ topic }: { readonly topic?: Topic }) {
  return (
    <>
      <div class="columns">
        <Field
          id="name"
          label="Name"
          required
          maxLength={64}
          autocomplete="off"
          defaultValue={topic?.name}
          hint="Letters, digits, dashes and underscores."
        />
        <Select
          id="access_level"
          label="Access"
          value={topic?.access_level ?? 'public'}
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
        defaultValue={topic?.description}
        hint="Required for a listed topic."
      />
      <Checkbox
        id="is_discoverable"
        label="List the topic in the topic search"
        defaultChecked={topic?.is_discoverable}
      />
    </>
  );
}

/** The fields that errors of the server concern. */
export const topicErrorFields = {
  'Topic name already exists': 'name',
  'Private topic limit reached': 'access_level',
};

/** The values of the fields as the API expects them. */
export const topicOfForm = (values: FormValues) => ({
  name: values.text('name'),
  description: values.text('description'),
  access_level: values.text('access_level'),
  is_discoverable: values.isChecked('is_discoverable'),
});
