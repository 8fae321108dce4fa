import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import type { WaitingMessage } from '../../../api/wire.ts';
import { Section } from '../../../parts/card.tsx';
import { topicPath } from '../../../parts/paths.ts';
import { RelativeTime } from '../../../parts/time/relative-time.tsx';
import { timeAgo, timeUntil } from '../../../parts/time/times.ts';
import { usePolling } from '../../../parts/use-polling.ts';
import type { OnAck } from '../../../state/acknowledge.tsx';
import { waitingMax } from '../../../state/waiting.ts';
import { AckButtons } from './ack-buttons.tsx';

/** The next pushes of the list are this old at most. */
const refreshMs = 15_000;
/** Messages that are shown before the rest is counted. */
const shownMax = 5;

interface WaitingListProps {
  readonly waiting: readonly WaitingMessage[];
  readonly reload: () => Promise<void>;
  readonly onAck: OnAck;
  /** The list contains messages of several topics. */
  readonly showsTopic?: boolean;
}

/** Messages that wait for an acknowledgement, oldest first, with what the server does next. Nothing if none waits. */
export function WaitingList({ waiting, reload, onAck, showsTopic = false }: WaitingListProps) {
  const [isAll, setAll] = useState(false);
  usePolling(reload, refreshMs);
  if (waiting.length === 0) return null;
  const rest = waiting.length - shownMax;
  return (
    <Section title="Needs acknowledgement" aside={<WaitingCount count={waiting.length} />}>
      <ul class="rows waiting-list">
        {waiting.slice(0, isAll ? undefined : shownMax).map((message) => (
          <li key={message.id} class={`p${message.priority}`}>
            <div class="grow">
              <div class="row-title">
                <Link href={`${topicPath(message.topic)}?message=${message.id}`}>
                  <bdi>{message.title ?? message.message}</bdi>
                </Link>
                {showsTopic && <span class="badge">{message.topic}</span>}
              </div>
              <div class="soft">
                <Progress message={message} />
              </div>
            </div>
            <div class="row-actions">
              <AckButtons message={message} onAck={onAck} />
            </div>
          </li>
        ))}
      </ul>
      {rest > 0 && (
        <button type="button" class="link-button more-waiting" onClick={() => setAll(!isAll)}>
          {isAll ? 'Show fewer' : `Show ${rest} more`}
        </button>
      )}
    </Section>
  );
}

/** The number of waiting messages; the list ends at a limit. */
export const WaitingCount = ({ count }: { readonly count: number }) => (
  <span class="unread waits">
    {count >= waitingMax ? `${count}+` : count}
    <span class="hidden"> waiting for an acknowledgement</span>
  </span>
);

function Progress({ message }: { readonly message: WaitingMessage }) {
  const { timestamp, repeats, next_repeat_at: repeatAt, next_step: step } = message;
  return (
    <>
      <RelativeTime iso={timestamp} text={timeAgo} />
      {repeats > 0 && ` · pushed again ${repeats === 1 ? 'once' : `${repeats} times`}`}
      {repeatAt !== null && (
        <>
          {' · next push '}
          <RelativeTime iso={repeatAt} text={timeUntil} />
        </>
      )}
      {step !== null && (
        <>
          {` · step ${step.number} `}
          <RelativeTime iso={step.at} text={timeUntil} />
        </>
      )}
      {repeatAt === null && step === null && ' · no further push'}
    </>
  );
}
