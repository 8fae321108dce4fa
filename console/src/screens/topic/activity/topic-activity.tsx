import { Link, useSearch } from 'wouter-preact';
import { call } from '../../../api/call.ts';
import type { Activity } from '../../../api/wire.ts';
import { BarChart } from '../../../parts/bar-chart/bar-chart.tsx';
import { Loading } from '../../../parts/loading.tsx';
import { topicActivityPath } from '../../../parts/paths.ts';
import { useLoad } from '../../../parts/use-load.ts';
import { Refused } from '../refused.tsx';
import { TopicSubpage } from '../topic-subpage.tsx';
import './activity.css';

interface Range {
  /** In the query of the URL. */
  readonly name: string;
  readonly text: string;
  readonly hours: number;
  readonly bucket: 'hour' | 'day';
}

const ranges: readonly Range[] = [
  { name: '24h', text: '24 hours', hours: 24, bucket: 'hour' },
  { name: '7d', text: '7 days', hours: 7 * 24, bucket: 'hour' },
  { name: '30d', text: '30 days', hours: 30 * 24, bucket: 'day' },
  { name: '90d', text: '90 days', hours: 90 * 24, bucket: 'day' },
];

/** The number of messages of a topic over time, by priority. */
export function TopicActivity({ item: name }: { readonly item: string }) {
  const chosen = new URLSearchParams(useSearch()).get('range');
  const range = ranges.find((one) => one.name === chosen) ?? ranges[0]!;
  const find = () => {
    const start = new Date(Date.now() - range.hours * 3_600_000).toISOString();
    const query = `topics=${encodeURIComponent(name)}&start_date=${start}&bucket=${range.bucket}`;
    return call<Activity>('GET', `/api/messages/activity?${query}`);
  };
  const { loaded, reload } = useLoad(find, `${name} ${range.name}`);
  return (
    <TopicSubpage name={name} title="Activity">
      <nav class="ranges" aria-label="Range">
        {ranges.map((one) => (
          <Link
            key={one.name}
            class="button"
            href={topicActivityPath(name, one.name)}
            aria-current={one === range ? 'page' : undefined}
          >
            {one.text}
          </Link>
        ))}
      </nav>
      {loaded.state === 'failed' ? (
        <Refused error={loaded.error} retry={reload} />
      ) : (
        <Loading loaded={loaded} retry={reload} rows={5}>
          {(activity) => <Counts activity={activity} range={range} />}
        </Loading>
      )}
    </TopicSubpage>
  );
}

/** From the lowest one of the stack: the most important messages have a common base. */
const priorities = [
  [5, 'Highest'],
  [4, 'High'],
  [3, 'Default'],
  [2, 'Low'],
  [1, 'Lowest'],
] as const;

function Counts({ activity, range }: { readonly activity: Activity; readonly range: Range }) {
  const { buckets, bucket_size, total } = activity;
  const counted = `${total.toLocaleString()} ${total === 1 ? 'message' : 'messages'} in the last ${range.text}`;
  return (
    <div class="card activity">
      <p role="status">{total === 0 ? `No messages in the last ${range.text}.` : `${counted}.`}</p>
      {total > 0 && (
        <BarChart
          label={`${counted} by priority`}
          starts={buckets.map(({ timestamp }) => timestamp)}
          bucket={bucket_size}
          series={priorities.map(([priority, name]) => ({
            name,
            tone: `p${priority}`,
            counts: buckets.map((bucket) => bucket[`priority_${priority}`]),
          }))}
        />
      )}
      <p class="hint">
        Counts the messages that the topic shows, without deleted and expired ones.
        {bucket_size === 'day' && ' Days are in UTC.'}
      </p>
    </div>
  );
}
