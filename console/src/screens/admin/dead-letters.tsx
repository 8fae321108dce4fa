import { useState } from 'preact/hooks';
import type { DeadLetter } from '../../api/wire.ts';
import { Section } from '../../parts/card.tsx';
import { Loading } from '../../parts/loading.tsx';
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx';
import { completeTime, timeAgo } from '../../parts/time/times.ts';
import { toast } from '../../parts/toasts.tsx';
import { useLoad } from '../../parts/use-load.ts';
import { countOf } from './numbers.ts';
import { callAsOperator } from './operator.ts';
import { usePolling } from '../../parts/use-polling.ts';

const pollMs = 10_000;
const limits = [100, 1_000] as const;

type Selection = { readonly topic: string } | { readonly message_id: string } | { readonly all: true };

interface Redrive {
  readonly json: Selection;
  /** Which pushes: `of this message`. */
  readonly of: string;
}

/** Pushes that failed for too long, each with its reason, which the operator can retry. */
export function DeadLetters() {
  const [topic, setTopic] = useState('');
  const [limit, setLimit] = useState<number>(limits[0]);
  const [redrive, setRedrive] = useState<Redrive | null>(null);
  const path = `/admin/push/dead-letters?${new URLSearchParams({ limit: String(limit), ...(topic === '' ? {} : { topic }) }).toString()}`;
  const { loaded, reload } = useLoad(() => callAsOperator<DeadLetter[]>('GET', path), path);
  usePolling(reload, pollMs);
  const send = async (json: Selection) => {
    const { redriven } = await callAsOperator<{ redriven: number }>('POST', '/admin/push/dead-letters/redrive', {
      json,
    });
    toast(`${countOf(redriven, 'dead letter')} enqueued again.`);
    void reload();
  };
  const all: Redrive =
    topic === '' ? { json: { all: true }, of: 'of all topics' } : { json: { topic }, of: `of the topic ${topic}` };
  return (
    <Section
      title="Dead letters"
      hint="Pushes that failed for too long. Kept for 30 days; one dead letter can contain up to 100 devices."
    >
      <TopicFilter topic={topic} setTopic={setTopic} />
      <Loading loaded={loaded} retry={reload} rows={3}>
        {(letters) =>
          letters.length === 0 ? (
            <p class="soft" role="status">
              {topic === '' ? 'No push has failed for too long.' : 'No dead letter of this topic.'}
            </p>
          ) : (
            <>
              <div class="section-head">
                <span class="soft" role="status">
                  {letters.length === limit ? `The newest ${limit}` : countOf(letters.length, 'dead letter')}
                </span>
                <button type="button" class="button" onClick={() => setRedrive(all)}>
                  {topic === '' ? 'Retry all' : 'Retry all of this topic'}
                </button>
              </div>
              <Letters letters={letters} setRedrive={setRedrive} />
              {letters.length === limit && limit < limits[1] && (
                <p class="more">
                  <button type="button" class="button" onClick={() => setLimit(limits[1])}>
                    Show up to {limits[1].toLocaleString()}
                  </button>
                </p>
              )}
            </>
          )
        }
      </Loading>
      {redrive !== null && (
        <ConfirmDialog
          title="Retry failed pushes"
          action="Retry"
          tone="primary"
          run={() => send(redrive.json)}
          onClose={() => setRedrive(null)}
        >
          <p>The failed pushes {redrive.of} are sent again, for the full retry period.</p>
          <p class="soft">Expired messages, and devices that received the push meanwhile, are left out.</p>
        </ConfirmDialog>
      )}
    </Section>
  );
}

interface TopicFilterProps {
  readonly topic: string;
  readonly setTopic: (topic: string) => void;
}

function TopicFilter({ topic, setTopic }: TopicFilterProps) {
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    setTopic(String(new FormData(event.currentTarget as HTMLFormElement).get('topic')).trim());
  };
  return (
    <form class="inline-form" role="search" onSubmit={submit}>
      <div class="field">
        <label for="topic">Topic</label>
        <input
          id="topic"
          name="topic"
          defaultValue={topic}
          maxLength={64}
          autocomplete="off"
          placeholder="All topics"
        />
      </div>
      <button type="submit" class="button">
        Filter
      </button>
    </form>
  );
}

interface LettersProps {
  readonly letters: readonly DeadLetter[];
  readonly setRedrive: (redrive: Redrive) => void;
}

function Letters({ letters, setRedrive }: LettersProps) {
  return (
    <ul class="rows">
      {letters.map((letter) => {
        const name = letter.topic ?? 'a deleted topic';
        return (
          <li key={letter.id}>
            <div class="grow">
              <div>
                <bdi class="name">{name}</bdi> <bdi>{letter.reason}</bdi>
              </div>
              <div class="soft">
                {letter.devices === null ? 'before devices were selected' : countOf(letter.devices, 'device')} ·{' '}
                <time dateTime={letter.failed_at} title={completeTime(letter.failed_at)}>
                  {timeAgo(letter.failed_at)}
                </time>{' '}
                · message <code>{letter.message_id}</code>
              </div>
            </div>
            <button
              type="button"
              class="button"
              aria-label={`Retry the message ${letter.message_id} of ${name}`}
              onClick={() => setRedrive({ json: { message_id: letter.message_id }, of: 'of this message' })}
            >
              Retry
            </button>
          </li>
        );
      })}
    </ul>
  );
}
