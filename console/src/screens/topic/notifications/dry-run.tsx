import { useEffect, useState } from 'preact/hooks';
import { call } from '../../../api/call.ts';
import { BarChart } from '../../../parts/bar-chart/bar-chart.tsx';
import { Section } from '../../../parts/card.tsx';
import { Skeleton } from '../../../parts/loading.tsx';

interface Counts {
  readonly messages: number;
  readonly would_push: number;
  readonly quiet: number;
  readonly collapsed: number;
  readonly digest: number;
}

interface Preview extends Counts {
  readonly days: readonly (Counts & { readonly timestamp: string })[];
}

interface DryRunProps {
  /** Of `POST /api/subscriptions/{subscription_id}/preview`. */
  readonly path: string;
  /** The body of the request. */
  readonly settings: object;
}

/** The pushes that the settings would have caused in the last 30 days. */
export function DryRun({ path, settings }: DryRunProps) {
  const [preview, setPreview] = useState<Preview | null>(null);
  const [error, setError] = useState<string | null>(null);
  useEffect(() => {
    let isLatest = true;
    call<Preview>('POST', path, { json: settings }).then(
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

function summaryOf({ messages, would_push, quiet, collapsed, digest }: Counts): string {
  if (messages === 0) return 'The topic has no messages of the last 30 days.';
  const filtered = messages - would_push - quiet - collapsed - digest;
  const rest = [
    ...(filtered > 0 ? [`${filtered} filtered out`] : []),
    ...(quiet > 0 ? [`${quiet} in quiet hours`] : []),
    ...(collapsed > 0 ? [`${collapsed} combined`] : []),
    ...(digest > 0 ? [`${digest} in digests`] : []),
  ];
  const text = `${would_push} of ${messages} ${messages === 1 ? 'message' : 'messages'} pushed`;
  return rest.length === 0 ? `${text}.` : `${text}: ${rest.join(', ')}.`;
}

/** A bar per day: the pushed messages, and above them the others. */
function Days({ days }: Pick<Preview, 'days'>) {
  return (
    <BarChart
      label="Messages of the last 30 days by whether they are pushed"
      starts={days.map(({ timestamp }) => timestamp)}
      bucket="day"
      series={[
        { name: 'Pushed', tone: 'pushed', counts: days.map(({ would_push }) => would_push) },
        { name: 'Not pushed', tone: 'rest', counts: days.map(({ messages, would_push }) => messages - would_push) },
      ]}
    />
  );
}
