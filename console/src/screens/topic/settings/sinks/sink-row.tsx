import { useState } from 'preact/hooks';
import { call } from '../../../../api/call.ts';
import type { Sink } from '../../../../api/wire.ts';
import { remove } from '../../../../parts/removals.ts';
import { RowButton } from '../../../../parts/row-button.tsx';
import { timeAgo, timeUntil } from '../../../../parts/time/times.ts';
import { toastError } from '../../../../parts/toasts.tsx';
import { kindNames } from './sink-form.tsx';

/** A dialog of the page. */
export interface OpenedSink {
  readonly dialog: 'deliveries' | 'test' | 'offset';
  readonly sink: Sink;
}

interface SinkRowProps {
  /** Path of the list. */
  readonly path: string;
  readonly sink: Sink;
  readonly open: (opened: OpenedSink) => void;
  readonly onChanged: () => Promise<void>;
}

/** A sink with its state, and what can be done with it. */
export function SinkRow({ path, sink, open, onChanged }: SinkRowProps) {
  const [isBusy, setBusy] = useState(false);
  const run = async (action: () => Promise<unknown>) => {
    setBusy(true);
    try {
      await action();
    } catch (error) {
      toastError(error);
    } finally {
      setBusy(false);
    }
  };
  const setState = (state: 'active' | 'paused') =>
    run(async () => {
      await call('PATCH', `${path}/${sink.id}`, { json: { state } });
      await onChanged();
    });
  const test = () =>
    run(async () => {
      await call('POST', `${path}/${sink.id}/test`);
      open({ dialog: 'test', sink });
    });
  const { name } = sink;
  const state = stateOf(sink);
  return (
    <li>
      <div class="grow">
        <div class="row-title">
          <bdi>{name}</bdi>
          <span class={`badge ${state.badge}`}>{state.text}</span>
        </div>
        <div class="soft sink-url">
          {kindNames[sink.kind]} · {sink.url}
        </div>
        <div class="soft">{progressOf(sink).join(' · ')}</div>
        {state.reason !== null && <div class="sink-reason">{state.reason}</div>}
      </div>
      <div class="row-actions">
        <RowButton text="Send a test" name={name} isBusy={isBusy} onClick={() => void test()} />
        <RowButton text="Deliveries" name={name} onClick={() => open({ dialog: 'deliveries', sink })} />
        <RowButton text="Set offset" name={name} onClick={() => open({ dialog: 'offset', sink })} />
        {sink.state === 'active' ? (
          <RowButton text="Pause" name={name} isBusy={isBusy} onClick={() => void setState('paused')} />
        ) : (
          <RowButton text="Resume" name={name} isBusy={isBusy} onClick={() => void setState('active')} />
        )}
        <RowButton text="Delete" name={name} onClick={() => removeSink(sink, path)} />
      </div>
    </li>
  );
}

interface SinkStatus {
  readonly text: string;
  /** The class of the badge. */
  readonly badge: 'sent' | 'retrying' | 'failed' | '';
  readonly reason: string | null;
}

function stateOf(sink: Sink): SinkStatus {
  const { state, state_reason: reason, failing_since: failingSince, next_attempt_at: nextAt } = sink;
  if (state === 'disabled') return { text: 'Disabled', badge: 'failed', reason };
  if (state === 'paused') return { text: 'Paused', badge: reason === null ? '' : 'failed', reason };
  if (failingSince === null) return { text: 'Active', badge: 'sent', reason: null };
  const next = nextAt === null ? '' : `; next attempt ${timeUntil(nextAt)}`;
  return { text: 'Retrying', badge: 'retrying', reason: `First failed ${timeAgo(failingSince)}${next}.` };
}

function progressOf({ delivered, skipped, lag, filter }: Sink): string[] {
  const conditions = [
    filter.priority_min === null ? null : `priority ${filter.priority_min} or higher`,
    filter.tags.length === 0 ? null : `tagged ${filter.tags.join(' or ')}`,
    filter.q === null ? null : `containing “${filter.q}”`,
  ].filter((one) => one !== null);
  return [
    `${delivered.toLocaleString()} delivered`,
    ...(skipped === 0 ? [] : [`${skipped.toLocaleString()} skipped`]),
    lag === 0 ? 'nothing waiting' : `${lag.toLocaleString()} waiting`,
    ...(conditions.length === 0 ? [] : [`only ${conditions.join(', ')}`]),
  ];
}

function removeSink({ id, name }: Sink, path: string): void {
  const text = (
    <>
      The sink <bdi>{name}</bdi> is deleted.
    </>
  );
  remove({ id, path: `${path}/${id}`, text });
}
