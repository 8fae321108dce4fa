import { useLocation } from 'wouter-preact';
import { call } from '../../../api/call.ts';
import type { Topic } from '../../../api/wire.ts';
import { Section } from '../../../parts/card.tsx';
import { Field, Form, type FormValues } from '../../../parts/form.tsx';
import { homePath } from '../../../parts/paths.ts';
import { toast } from '../../../parts/toasts.tsx';
import { loadInbox } from '../../../state/inbox.ts';

export function DeleteTopic({ topic }: { readonly topic: Topic }) {
  const [, navigate] = useLocation();
  const remove = async (values: FormValues) => {
    if (values.text('confirmation') !== topic.name) throw new Error(`Enter ${topic.name} to confirm.`);
    await call('DELETE', `/api/topics/${topic.id}`);
    // The home page loads the topics again if this fails.
    await loadInbox().catch(() => undefined);
    navigate(homePath, { replace: true });
    toast(`${topic.name} is deleted.`);
  };
  return (
    <Section
      title="Delete the topic"
      hint="Deletes the topic with its messages, tokens and subscriptions. This cannot be undone."
    >
      <details class="danger">
        <summary>Delete {topic.name} …</summary>
        <Form action="Delete the topic" tone="danger" send={remove}>
          <Field id="confirmation" label={`Enter ${topic.name}`} required autocomplete="off" />
        </Form>
      </details>
    </Section>
  );
}
