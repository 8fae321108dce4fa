import type { RetentionRun } from '../../api/wire.ts';
import { completeTime } from '../../parts/time/times.ts';
import { countOf, formatBytes, formatNumber } from './numbers.ts';

const outcomes: Readonly<Record<RetentionRun['outcome'], readonly [badge: string, text: string]>> = {
  running: ['retrying', 'running'],
  done: ['sent', 'done'],
  archive_failed: ['dead_token', 'archive failed'],
  waiting: ['skipped', 'waits for confirmation'],
};
const starters: Readonly<Record<RetentionRun['started_by'], string>> = {
  schedule: 'by schedule',
  api: 'by an operator over the API',
  command: 'by an operator with the command',
};

export function RetentionHistory({ runs }: { readonly runs: readonly RetentionRun[] }) {
  if (runs.length === 0) return <p class="soft">No run has removed messages yet.</p>;
  return (
    <ul class="rows">
      {runs.map((run) => (
        <li key={run.id}>
          <div class="grow">
            <div>
              <span class={`badge ${outcomes[run.outcome][0]}`}>{outcomes[run.outcome][1]}</span>{' '}
              {formatNumber(run.removed.messages)} of {countOf(run.planned.messages, 'message')} removed ·{' '}
              {formatBytes(run.removed.bytes)}
            </div>
            <div class="soft">
              {completeTime(run.started_at)} {starters[run.started_by]}
              {run.duration_ms !== null && ` · ${countOf(run.duration_ms / 1_000, 'second')}`}
              {run.interruptions > 0 && ` · ${countOf(run.interruptions, 'interruption')}`}
            </div>
            {run.topics.length > 0 && (
              <details>
                <summary>{countOf(run.topics.length, 'topic')}</summary>
                <ul>
                  {run.topics.map(({ topic_id: id, topic, messages, bytes }) => (
                    <li key={id} class="sub-row">
                      <bdi class="name">{topic ?? 'a deleted topic'}</bdi>
                      <span class="soft">
                        {countOf(messages, 'message')} · {formatBytes(bytes)}
                      </span>
                    </li>
                  ))}
                </ul>
              </details>
            )}
          </div>
        </li>
      ))}
    </ul>
  );
}
