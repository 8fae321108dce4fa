import { ledgerKey } from '@tocsin/shared/domain/escalation/ledger-key.ts';
import { isCollected } from '@tocsin/shared/domain/push/digest.ts';
import type { Message } from '@tocsin/shared/domain/messages/message.ts';
import { pushQueues, summaryJob, type SummaryJob } from '@tocsin/shared/domain/push/push-job.ts';
import type { BudgetState, BudgetWindow } from '@tocsin/shared/ports/bus/rate-limiter.ts';
import type { Recipient } from '@tocsin/shared/ports/deliveries.ts';
import type { Push } from './load-push.ts';
import type { PushDeps, PushLimits } from './push-deps.ts';
import type { Attempt } from './send-push.ts';

const minuteMs = 60_000;
const dayMs = 86_400_000;

/** Budgets per request. */
const budgetsAtOnce = 50;

const usesOf = ({ windows }: BudgetState): number => Number.MAX_SAFE_INTEGER - windows.at(-1)!.remaining;

/**
 * Counts a subscription's messages per clock minute, including those beyond the limit. Kept for another minute for the
 * final summary.
 */
export const minuteWindow = (subscriptionId: string, endsAt: number): BudgetWindow => ({
  key: `push:{${subscriptionId}}:${endsAt / minuteMs}`,
  limit: Number.MAX_SAFE_INTEGER,
  span: { endsAt: endsAt + minuteMs },
});

/**
 * Counts messages from before the quiet hours that end at the time whose push fell into them. Kept for another day for
 * renewed summaries.
 */
export const lateWindow = (subscriptionId: string, endsAt: number): BudgetWindow => ({
  key: `push:{${subscriptionId}}:late:${endsAt}`,
  limit: Number.MAX_SAFE_INTEGER,
  span: { endsAt: endsAt + dayMs },
});

/** Marks a message as counted in the window. Kept as long as the count, so that a repeated page counts it once. */
const placeIn = (window: BudgetWindow, key: string): BudgetWindow => ({ ...window, key, limit: 1 });

/** Returns the number of messages in the window. */
export async function countOf({ engine: { bus }, clock }: PushDeps, window: BudgetWindow): Promise<number> {
  return usesOf(await bus.peekBudget([window], clock()));
}

/** Whether the ledger's reason is a held-back push, which a summary or a digest replaces. */
export function isHeldBack(reason: string | null): boolean {
  return reason !== null && (isCollected(reason) || /^(quiet hours from |more than \d+ within a minute$)/.test(reason));
}

type HeldBack = {
  readonly recipient: Recipient;
  readonly reason: string;
  readonly summary: Omit<SummaryJob, 'kind'>;
  readonly summaryAt: number;
  /** For a message from before the quiet hours: the budgets that count it. */
  readonly late?: readonly BudgetWindow[];
};

/**
 * Returns, by subscription and with the reason, the recipients without an immediate push despite a matching filter:
 * quiet hours apply now, or applied at the time of the publish (a summary follows), or the limit per minute is
 * reached. Neither holds back a step of an escalation, nor a repeat of priority 5. Stores the job of the summary before
 * it resolves. All messages of a night, or of some seconds of a flood, share one summary.
 */
export async function holdBack(
  deps: PushDeps,
  { message, page }: Push,
  recipients: readonly Recipient[],
  { round, again }: Attempt,
): Promise<Map<string, string>> {
  if (page?.kind === 'step' || (page?.kind === 'repeat' && message.priority === 5)) return new Map();
  const now = deps.clock();
  const held: HeldBack[] = [];
  const limited: Recipient[] = [];
  for (const recipient of recipients) {
    const quiet = heldByQuietHours(deps, recipient, { message, now, isAskedFor: again.length > 0 });
    if (quiet !== null) held.push(quiet);
    // Retries were counted before.
    else if (recipient.settings.maxPerMinute !== null && round === 0) limited.push(recipient);
  }
  for (let at = 0; at < limited.length; at += budgetsAtOnce) {
    const answers = await Promise.all(
      limited
        .slice(at, at + budgetsAtOnce)
        .map((recipient) => heldByLimit(deps, recipient, { key: ledgerKey(message.id, page), now })),
    );
    held.push(...answers.filter((answer) => answer !== null));
  }
  const late = held.flatMap((one) => (one.late === undefined ? [] : [one.late]));
  for (let at = 0; at < late.length; at += budgetsAtOnce)
    await Promise.all(late.slice(at, at + budgetsAtOnce).map((windows) => deps.engine.bus.takeBudget(windows, now)));
  const jobs = new Map(
    held.map(({ summary, summaryAt }) => summaryJob(summary, { at: summaryAt, now })).map((job) => [job.id, job]),
  );
  if (jobs.size > 0) await deps.engine.jobQueue.add(pushQueues.normal, [...jobs.values()]);
  return new Map(held.map(({ recipient, reason }) => [recipient.subscriptionId, reason]));
}

/** An operator's replay ignores the quiet hours of the publish time. */
function heldByQuietHours(
  { quietSpans, limits }: PushDeps,
  recipient: Recipient,
  {
    message,
    now,
    isAskedFor,
  }: { message: Pick<Message, 'id' | 'priority' | 'timestamp'>; now: number; isAskedFor: boolean },
): HeldBack | null {
  const {
    subscriptionId,
    subscribedAt,
    settings: { quietHours },
  } = recipient;
  if (quietHours === null || (quietHours.allowPriority !== null && message.priority >= quietHours.allowPriority))
    return null;
  // The summary counts no messages from before the subscription.
  const isInNumber = !isAskedFor && subscribedAt <= message.timestamp;
  const span = quietSpans.at(quietHours, now) ?? (isInNumber ? quietSpans.at(quietHours, message.timestamp) : null);
  if (span === null) return null;
  // The summary counts by publish time, so it would not count this message.
  const isLate = message.timestamp < span.start || !isInNumber;
  const late = lateWindow(subscriptionId, span.end);
  return {
    ...(isLate ? { late: [placeIn(late, `${late.key}:${message.id}`), late] } : {}),
    recipient,
    reason: `quiet hours from ${quietHours.start} to ${quietHours.end}, ${quietHours.timezone}`,
    summary: {
      subscriptionId,
      of: { why: 'quiet_hours', from: span.start, to: span.end, priorityMax: (quietHours.allowPriority ?? 6) - 1 },
    },
    // After the night, send the summary again, because the first one may not include this message.
    summaryAt: span.end > now ? span.end : nextRenewal(limits, now),
  };
}

async function heldByLimit(
  deps: PushDeps,
  recipient: Recipient,
  { key, now }: { key: string; now: number },
): Promise<HeldBack | null> {
  const {
    subscriptionId,
    settings: { maxPerMinute },
  } = recipient;
  const to = (Math.floor(now / minuteMs) + 1) * minuteMs;
  const window = minuteWindow(subscriptionId, to);
  // The key is the same in the next minute, because a repeated page can be later than the first.
  const place = placeIn(window, `push:{${subscriptionId}}:${key}`);
  const counted = await deps.engine.bus.takeBudget([place, window], now);
  // A message counted before is held back if the ledger says so, because the count now includes later ones.
  if (!counted.accepted || usesOf(counted) <= maxPerMinute!) return null;
  return {
    recipient,
    reason: `more than ${maxPerMinute} within a minute`,
    summary: { subscriptionId, of: { why: 'max_per_minute', to, limit: maxPerMinute! } },
    summaryAt: nextRenewal(deps.limits, now),
  };
}

const nextRenewal = ({ renewalMs }: PushLimits, now: number): number => Math.ceil((now + 1) / renewalMs) * renewalMs;
