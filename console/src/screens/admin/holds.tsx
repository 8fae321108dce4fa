import { useState } from 'preact/hooks';
import type { Hold } from '../../api/wire.ts';
import { Section } from '../../parts/card.tsx';
import { Field, Form, type FormValues } from '../../parts/form.tsx';
import { Loading } from '../../parts/loading.tsx';
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx';
import { toast, toastError } from '../../parts/toasts.tsx';
import { useLoad } from '../../parts/use-load.ts';
import { callAsOperator, downloadAsOperator } from './operator.ts';

const shownMax = 1_000;
const pathOf = (topic: string): string => `/admin/topics/${encodeURIComponent(topic)}`;

/** Topics whose messages retention keeps. */
export function Holds() {
  const [released, setReleased] = useState<Hold | null>(null);
  const { loaded, reload } = useLoad(() => callAsOperator<Hold[]>('GET', `/admin/holds?limit=${shownMax}`), 'holds');
  const hold = async (values: FormValues) => {
    const { topic } = await callAsOperator<Hold>('PUT', `${pathOf(values.text('held_topic').trim())}/hold`);
    toast(`${topic} is under legal hold.`);
    void reload();
  };
  const release = async ({ topic }: Hold) => {
    await callAsOperator('DELETE', `${pathOf(topic)}/hold`);
    toast(`The legal hold of ${topic} has ended.`);
    void reload();
  };
  return (
    <Section
      title="Legal holds"
      hint="Nothing of a held topic is removed, and neither it nor its owner's account can be deleted."
    >
      <Loading loaded={loaded} retry={reload} rows={2}>
        {(holds) =>
          holds.length === 0 ? (
            <p class="soft">No topic is under legal hold.</p>
          ) : (
            <ul class="rows">
              {holds.map((one) => (
                <HeldTopic key={one.topic_id} hold={one} release={setReleased} />
              ))}
            </ul>
          )
        }
      </Loading>
      <details class="create">
        <summary>Put a topic under legal hold …</summary>
        <Form action="Hold" tone="plain" send={hold} clear>
          <Field id="held_topic" label="Name of the topic" required maxLength={64} autocomplete="off" />
        </Form>
      </details>
      {released !== null && (
        <ConfirmDialog
          title="End the legal hold"
          action="End the hold"
          run={() => release(released)}
          onClose={() => setReleased(null)}
        >
          <p>
            The next run removes the messages of <bdi>{released.topic}</bdi> that expired during the hold.
          </p>
        </ConfirmDialog>
      )}
    </Section>
  );
}

interface HeldTopicProps {
  readonly hold: Hold;
  readonly release: (hold: Hold) => void;
}

function HeldTopic({ hold, release }: HeldTopicProps) {
  const { topic } = hold;
  const save = () => downloadAsOperator(`${pathOf(topic)}/held`, `${topic}-held.ndjson`).catch(toastError);
  return (
    <li>
      <bdi class="grow name">{topic}</bdi>
      <button
        type="button"
        class="button"
        aria-label={`Download what the hold keeps of ${topic}`}
        title="Expired and deleted messages. The audit log records the download."
        onClick={() => void save()}
      >
        Download
      </button>
      <button type="button" class="button" aria-label={`End the hold of ${topic}`} onClick={() => release(hold)}>
        End
      </button>
    </li>
  );
}
