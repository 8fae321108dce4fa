import { pushQueues, summaryJob, type SummaryJob } from '@tocsin/shared/domain/push-job.ts';
import type { BudgetState, BudgetWindow } from '@tocsin/shared/ports/bus.ts';
import type { Recipient } from '@tocsin/shared/ports/deliveries.ts';
import type { Push } from './load-push.ts';
import type { PushDeps } from './push-deps.ts';
import type { Attempt } from './send-push.ts';

const minuteMs = 60_000;

/** Budgets asked for at once. */
const budgetsAtOnce = 50;

/**
 * Counts a subscription's messages of a minute of the clock, also those beyond the limit; kept for a minute more, for the
 * last push that says how many there were.
 */
const minuteWindow = (subscriptionId: string, endsAt: number): BudgetWindow =>
  ({ key: `push:{${subscriptionId}}:${endsAt / minuteMs}`, limit: Number.MAX_SAFE_INTEGER, span: { endsAt: endsAt + minuteMs } });

const usesOf = ({ windows: [state] }: BudgetState): number => Number.MAX_SAFE_INTEGER - state!.remaining;

/** How many messages of the subscription there were in the minute that ends at the time. */
export async function countOfMinute({ engine: { bus }, clock }: PushDeps, subscriptionId: string, endsAt: number): Promise<number> {
  return usesOf(await bus.peekBudget([minuteWindow(subscriptionId, endsAt)], clock()));
}

/** Whether the ledger's reason says that a push was held back: its subscriber wanted it so, and is told of it in another way. */
export function isHeldBack(reason: string | null): boolean {
  return reason !== null && /^(quiet hours from |more than \d+ within a minute$)/.test(reason);
}

type HeldBack = { readonly recipient: Recipient; readonly reason: string; readonly summary: Omit<SummaryJob, 'kind'>; readonly summaryAt: number };

/**
 * Which recipients get no push of the message now although the filter lets it through, by subscription, with the reason:
 * it is quiet for them, or they got as many within the minute as they want. The job of the push that says how many there
 * were is stored before this resolves; all messages of a night, or of some seconds of a flood, share one.
 */
export async function holdBack(deps: PushDeps, { message }: Push, recipients: readonly Recipient[], { round }: Attempt): Promise<Map<string, string>> {
  const now = deps.clock();
  const held: HeldBack[] = [];
  const limited: Recipient[] = [];
  for (const recipient of recipients) {
    const quiet = heldByQuietHours(deps, recipient, { priority: message.priority, now });
    if (quiet !== null) held.push(quiet);
    // What is tried again was counted the first time.
    else if (recipient.settings.maxPerMinute !== null && round === 0) limited.push(recipient);
  }
  for (let at = 0; at < limited.length; at += budgetsAtOnce) {
    const answers = await Promise.all(limited.slice(at, at + budgetsAtOnce).map((recipient) => heldByLimit(deps, recipient, now)));
    held.push(...answers.filter((answer) => answer !== null));
  }
  const jobs = new Map(held.map(({ summary, summaryAt }) => summaryJob(summary, { at: summaryAt, now })).map((job) => [job.id, job]));
  if (jobs.size > 0) await deps.engine.jobQueue.add(pushQueues.normal, [...jobs.values()]);
  return new Map(held.map(({ recipient, reason }) => [recipient.subscriptionId, reason]));
}

function heldByQuietHours({ quietSpans }: PushDeps, recipient: Recipient, { priority, now }: { priority: number; now: number }): HeldBack | null {
  const { subscriptionId, settings: { quietHours } } = recipient;
  if (quietHours === null || (quietHours.allowPriority !== null && priority >= quietHours.allowPriority)) return null;
  const span = quietSpans.at(quietHours, now);
  if (span === null) return null;
  return {
    recipient, reason: `quiet hours from ${quietHours.start} to ${quietHours.end}, ${quietHours.timezone}`,
    summary: { subscriptionId, of: { why: 'quiet_hours', from: span.start, to: span.end, priorityMax: (quietHours.allowPriority ?? 6) - 1 } },
    summaryAt: span.end,
  };
}

async function heldByLimit(deps: PushDeps, recipient: Recipient, now: number): Promise<HeldBack | null> {
  const { subscriptionId, settings: { maxPerMinute } } = recipient;
  const { renewalMs } = deps.limits;
  const to = (Math.floor(now / minuteMs) + 1) * minuteMs;
  if (usesOf(await deps.engine.bus.takeBudget([minuteWindow(subscriptionId, to)], now)) <= maxPerMinute!) return null;
  return {
    recipient, reason: `more than ${maxPerMinute} within a minute`,
    summary: { subscriptionId, of: { why: 'max_per_minute', to, limit: maxPerMinute! } },
    summaryAt: Math.ceil((now + 1) / renewalMs) * renewalMs,
  };
}
