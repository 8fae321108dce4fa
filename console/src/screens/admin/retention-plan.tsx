import type { RetentionPlan } from '../../api/wire.ts';
import { Field, Form, type FormValues } from '../../parts/form.tsx';
import { completeTime, timeAgo } from '../../parts/time/times.ts';
import { toast, toastError } from '../../parts/toasts.tsx';
import { countOf, formatBytes, formatNumber } from './numbers.ts';
import { callAsOperator } from './operator.ts';

/** A request to remove the messages of a plan. */
export interface Removal {
  readonly action: 'run' | 'confirm';
  readonly up_to: string;
  readonly messages: number;
  readonly bytes: number;
}

interface StateProps {
  readonly plan: RetentionPlan;
  readonly confirm: (removal: Removal) => void;
  readonly onChanged: () => Promise<void>;
}

/** What keeps retention from running, with the way out. */
export function PausedOrWaiting({ plan, confirm, onChanged }: StateProps) {
  const { waiting, paused_at: pausedAt, pause_reason: reason, confirmed_up_to: confirmedUpTo } = plan;
  const resume = async () => {
    try {
      await callAsOperator('POST', '/admin/retention/resume');
      toast('Retention is resumed.');
    } catch (error) {
      toastError(error);
    }
    await onChanged();
  };
  return (
    <>
      {pausedAt !== null && (
        <div class="note warn state" role="status">
          <p>
            Retention has been paused since {completeTime(pausedAt)}: <bdi>{reason}</bdi>
          </p>
          <button type="button" class="button" onClick={() => void resume()}>
            Resume
          </button>
        </div>
      )}
      {waiting !== null && (
        <div class="note warn state" role="status">
          <p>
            A plan waits for confirmation since {completeTime(waiting.since)}, because it is unusually large:{' '}
            {countOf(waiting.messages, 'message')} ({formatBytes(waiting.bytes)}) that expired at or before{' '}
            {completeTime(waiting.up_to)}. By tier:{' '}
            {waiting.tiers
              .map(
                ({ tier, messages, of_messages: all }) => `${tier} ${formatNumber(messages)} of ${formatNumber(all)}`,
              )
              .join(', ')}
            .
          </p>
          <button type="button" class="button danger" onClick={() => confirm({ action: 'confirm', ...waiting })}>
            Confirm the plan
          </button>
        </div>
      )}
      {confirmedUpTo !== null && (
        <p class="note good" role="status">
          The plan up to {completeTime(confirmedUpTo)} is confirmed and not yet complete.
        </p>
      )}
    </>
  );
}

export function Pause({ onChanged }: Pick<StateProps, 'onChanged'>) {
  const pause = async (values: FormValues) => {
    await callAsOperator('POST', '/admin/retention/pause', { json: { reason: values.text('reason').trim() } });
    toast('Retention is paused.');
    await onChanged();
  };
  return (
    <details class="create">
      <summary>Pause retention …</summary>
      <Form action="Pause" tone="plain" send={pause}>
        <Field
          id="reason"
          label="Reason"
          required
          maxLength={200}
          autocomplete="off"
          hint="Other operators see it. Expired messages stay hidden from readers."
        />
      </Form>
    </details>
  );
}

interface PlanProps {
  readonly plan: RetentionPlan;
  /** A run is requested or in progress. */
  readonly isBusy: boolean;
  readonly remove: (removal: Removal) => void;
}

export function Plan({ plan, isBusy, remove }: PlanProps) {
  const isFuture = Date.parse(plan.up_to) > Date.now();
  const canRun = !isFuture && plan.messages > 0 && plan.paused_at === null;
  return (
    <>
      <div class="section-head plan-head">
        <p role="status">
          <strong>{countOf(plan.messages, 'message')}</strong> ({formatBytes(plan.bytes)}){' '}
          {isFuture ? 'will have expired by' : 'expired at or before'} {completeTime(plan.up_to)}.
          {plan.held.messages > 0 && ` Legal holds keep another ${formatNumber(plan.held.messages)}.`}
        </p>
        {canRun && (
          <button
            type="button"
            class="button danger"
            disabled={isBusy}
            onClick={() => remove({ action: 'run', ...plan })}
          >
            Remove now
          </button>
        )}
      </div>
      {plan.needs_confirmation && !isFuture && (
        <p class="note warn">
          The plan is unusually large: a run waits until an operator has confirmed it. Check the numbers below.
        </p>
      )}
      {plan.tiers.length > 0 && (
        <ul class="rows" aria-label="By tier">
          {plan.tiers.map(({ tier, messages, bytes, of_messages: all }) => (
            <li key={tier}>
              <span class="grow">{tier}</span>
              <span class="soft">
                {formatNumber(messages)} of {countOf(all, 'message')} · {formatBytes(bytes)}
              </span>
            </li>
          ))}
        </ul>
      )}
      {plan.topics.length > 0 && <PlannedTopics {...plan} />}
    </>
  );
}

function PlannedTopics({ topics, topic_count: count }: Pick<RetentionPlan, 'topics' | 'topic_count'>) {
  return (
    <details class="create">
      <summary>
        {count > topics.length
          ? `The largest ${topics.length} of ${formatNumber(count)} topics …`
          : `${countOf(count, 'topic')} …`}
      </summary>
      <ul class="rows">
        {topics.map((topic) => (
          <li key={topic.topic_id}>
            <div class="grow">
              <bdi class="name">{topic.topic ?? 'a deleted topic'}</bdi>{' '}
              {topic.legal_hold && <span class="badge skipped">legal hold</span>}
              <div class="soft">
                {topic.tier ?? 'no owner'}
                {topic.retention_days !== null && ` · keeps ${countOf(topic.retention_days, 'day')}`}
                {topic.oldest_kept !== null && ` · oldest that stays: ${timeAgo(topic.oldest_kept)}`}
              </div>
            </div>
            <span class="soft">
              {countOf(topic.messages, 'message')} · {formatBytes(topic.bytes)}
            </span>
          </li>
        ))}
      </ul>
    </details>
  );
}

interface PlanTimeProps {
  readonly upTo: string;
  readonly setUpTo: (iso: string) => void;
}

/** Plans for another time; one in the future shows what will have expired. */
export function PlanTime({ upTo, setUpTo }: PlanTimeProps) {
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const value = String(new FormData(event.currentTarget as HTMLFormElement).get('up_to'));
    setUpTo(value === '' ? '' : new Date(value).toISOString());
  };
  return (
    <form class="inline-form" onSubmit={submit}>
      <div class="field">
        <label for="up_to">Plan up to</label>
        <input id="up_to" name="up_to" type="datetime-local" aria-describedby="up_to-hint" />
      </div>
      <button type="submit" class="button">
        Show the plan
      </button>
      {upTo !== '' && (
        <button type="reset" class="button" onClick={() => setUpTo('')}>
          Now
        </button>
      )}
      <p class="hint" id="up_to-hint">
        Empty: now. A time in the future shows what will have expired by then.
      </p>
    </form>
  );
}
