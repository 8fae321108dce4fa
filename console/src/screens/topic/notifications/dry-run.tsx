import { useEffect, useState } from 'preact/hooks';
import { call } from '../../../api/call.ts';
import { Section } from '../../../parts/card.tsx';
import { Skeleton } from '../../../parts/loading.tsx';
import type { ChangedNotifications } from './settings-of-form.ts';

interface Counts {
  readonly messages: number;
  readonly would_push: number;
  readonly quiet: number;
  readonly collapsed: number;
}

interface Preview extends Counts {
  readonly days: readonly (Counts & { readonly timestamp: string })[];
}

interface DryRunProps {
  /** Of `POST /api/subscriptions/{subscription_id}/preview`. */
  readonly path: string;
  /** Null: the stored settings. */
  readonly settings: ChangedNotifications | null;
}

/** The pushes that the settings would have caused in the last 30 days. */
export function DryRun({ path, settings }: DryRunProps) {
  const [preview, setPreview] = useState<Preview | null>(null);
  const [error, setError] = useState<string | null>(null);
  useEffect(() => {
    let isLatest = true;
    call<Preview>('POST', path, { json: settings ?? {} }).then(
      (found) => isLatest && (setPreview(found), setError(null)),
      (failure: Error) => isLatest && setError(failure.message),
    );
    return () => {
      isLatest = false;
    };
  }, [path, JSON.stringify(settings)]);
  return (
    <Section title="The last 30 days with these settings" hint="Counts the messages that are still stored.">
      {error !== null && (
        <p class="note bad" role="alert">
          {error}
        </p>
      )}
      {preview === null && error === null && <Skeleton rows={2} />}
      {preview !== null && (
        <div class="card dry-run">
          <p role="status">{summaryOf(preview)}</p>
          {preview.messages > 0 && <Days days={preview.days} />}
        </div>
      )}
    </Section>
  );
}

function summaryOf({ messages, would_push, quiet, collapsed }: Counts): string {
  if (messages === 0) return 'The topic has no messages of the last 30 days.';
  const filtered = messages - would_push - quiet - collapsed;
  const rest = [
    ...(filtered > 0 ? [`${filtered} filtered out`] : []),
    ...(quiet > 0 ? [`${quiet} in quiet hours`] : []),
    ...(collapsed > 0 ? [`${collapsed} combined`] : []),
  ];
  const text = `${would_push} of ${messages} ${messages === 1 ? 'message' : 'messages'} pushed`;
  return rest.length === 0 ? `${text}.` : `${text}: ${rest.join(', ')}.`;
}

const [barWidth, chartHeight] = [10, 60];

/** A bar per day: all messages, and the pushed ones in front of them. */
function Days({ days }: Pick<Preview, 'days'>) {
  const most = Math.max(...days.map(({ messages }) => messages));
  const height = (count: number) => (count === 0 ? 0 : Math.max(1, (count / most) * chartHeight));
  return (
    <svg
      class="days"
      viewBox={`0 0 ${days.length * barWidth} ${chartHeight}`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      {days.map(({ timestamp, messages, would_push }, day) => (
        <g key={timestamp}>
          <rect
            class="all"
            x={day * barWidth + 1}
            y={chartHeight - height(messages)}
            width={barWidth - 2}
            height={height(messages)}
          >
            <title>{`${timestamp.slice(0, 10)}: ${would_push} of ${messages} pushed`}</title>
          </rect>
          <rect
            class="pushed"
            x={day * barWidth + 1}
            y={chartHeight - height(would_push)}
            width={barWidth - 2}
            height={height(would_push)}
          />
        </g>
      ))}
    </svg>
  );
}
