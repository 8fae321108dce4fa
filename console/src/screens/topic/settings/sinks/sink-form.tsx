import type { Sink } from '../../../../api/wire.ts';
import { Field, Form, Select, type FormValues } from '../../../../parts/form.tsx';
import { priorities } from '../../notifications/priorities.ts';

export type NewSink = Sink & { readonly secret: string };

export const kindNames: Readonly<Record<Sink['kind'], string>> = {
  webhook: 'Webhook',
  slack: 'Slack',
  teams: 'Teams',
  discord: 'Discord',
};

const kinds = Object.entries(kindNames).map(([kind, text]) => [kind, text] as const);

/** Every message has at least the lowest priority. */
const priorityOf = (text: string) => (text === '1' ? null : Number(text));

/** Creates a sink. */
export function SinkForm({ create }: { readonly create: (json: object) => Promise<void> }) {
  const send = (values: FormValues) =>
    create({
      name: values.text('name'),
      kind: values.text('sink_kind'),
      url: values.text('url'),
      from: values.text('sink_from'),
      filter: {
        priority_min: priorityOf(values.text('sink_priority')),
        tags: values
          .text('filter.tags')
          .split(',')
          .map((tag) => tag.trim())
          .filter((tag) => tag !== ''),
        q: values.text('filter.q') || null,
      },
    });
  return (
    <details class="create">
      <summary>Create a sink …</summary>
      <Form action="Create sink" send={send}>
        <div class="columns">
          <Field id="sink_name" name="name" label="Name" required maxLength={80} autocomplete="off" />
          <Select id="sink_kind" label="Kind" options={kinds} />
        </div>
        <Field
          id="sink_url"
          name="url"
          label="URL"
          type="url"
          required
          autocomplete="off"
          hint="For a chat: the URL of its incoming webhook."
        />
        <div class="columns">
          <Select
            id="sink_from"
            label="Begin with"
            options={[
              ['now', 'New messages'],
              ['start', 'The first stored message'],
            ]}
          />
          <Select id="sink_priority" label="Priority" options={priorities} value="1" />
        </div>
        <div class="columns">
          <Field
            id="sink_tags"
            name="filter.tags"
            label="Tags"
            autocomplete="off"
            hint="Separated by commas. The message has one of them."
          />
          <Field
            id="sink_q"
            name="filter.q"
            label="Text"
            autocomplete="off"
            hint="The title or text contains it, in any case."
          />
        </div>
      </Form>
    </details>
  );
}
