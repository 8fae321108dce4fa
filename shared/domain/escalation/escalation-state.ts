import type { EscalationPolicy } from './escalation-policy.ts';

/** The progress of one message's escalation. Times are milliseconds since the epoch. */
export interface EscalationState {
  /** 1; each withdrawn acknowledgement, and each replacement that requires one again, starts a new round. */
  readonly round: number;
  readonly startedAt: number;
  /** Whether the message waits for an acknowledgement. */
  readonly isOpen: boolean;
  /** The number of repeats of this round. */
  readonly repeats: number;
  /** The time of the last repeat; the start before the first one. */
  readonly repeatedAt: number;
  /** The number of steps of this round, including skipped ones. */
  readonly stepsDone: number;
  /** The clock at the last decision. */
  readonly decidedAt: number;
}

/** A page that is due. Numbers start at 1 in each round. */
export type EscalationPage =
  | { readonly kind: 'repeat'; readonly round: number; readonly number: number }
  | { readonly kind: 'step'; readonly round: number; readonly number: number; readonly isSkipped: boolean };

/**
 * Names a page of a message's escalation. Repeat 0 is the push of a replacement that made the message require an
 * acknowledgement, see `raisedPage`.
 */
export type PageName = Pick<EscalationPage, 'kind' | 'round' | 'number'>;

/** Returns the page of the replacement that started the round. It is not counted among the repeats. */
export const raisedPage = ({ round }: Pick<EscalationState, 'round'>): PageName => ({
  kind: 'repeat',
  round,
  number: 0,
});

/** A page in the history of an escalation. */
export interface PageEntry extends PageName {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Why the page was skipped; null if it was sent. */
  readonly skipped: string | null;
}

/**
 * A decision that is this far in the future was made before the clock was set back. More than the clock skew of nodes.
 */
export const clockStepMs = 60_000;

export function startEscalation(now: number, round = 1): EscalationState {
  return { round, startedAt: now, isOpen: true, repeats: 0, repeatedAt: now, stepsDone: 0, decidedAt: now };
}

/** The message was acknowledged, deleted or expired, or its topic was removed. */
export function endEscalation(state: EscalationState, now: number): EscalationState {
  return { ...state, isOpen: false, decidedAt: now };
}

/** The acknowledgement was withdrawn, or a replacement requires one again: everything starts again. */
export function restartEscalation({ round }: EscalationState, now: number): EscalationState {
  return startEscalation(now, round + 1);
}

/** The time of the next repeat; null without one. */
export function nextRepeatAt(policy: EscalationPolicy | null, state: EscalationState): number | null {
  if (policy === null || !state.isOpen || state.repeats >= policy.repeatMax) return null;
  return state.repeatedAt + policy.repeatEveryMs;
}

/** The time and number of the next step; null without one. */
export function nextStep(
  policy: EscalationPolicy | null,
  state: EscalationState,
): { readonly number: number; readonly at: number } | null {
  const step = policy === null || !state.isOpen ? undefined : policy.steps[state.stepsDone];
  return step === undefined ? null : { number: state.stepsDone + 1, at: state.startedAt + step.afterMs };
}

/** The time of the next page; null if no page will be due. */
export function nextPageAt(policy: EscalationPolicy | null, state: EscalationState): number | null {
  const times = [nextRepeatAt(policy, state), nextStep(policy, state)?.at ?? null].filter((time) => time !== null);
  return times.length === 0 ? null : Math.min(...times);
}

/**
 * Returns the pages that are due and the state after them. However late it is called, at most one repeat is due, and
 * the next one follows a whole interval later. A step without a reachable target is skipped, and the following one is
 * due immediately. After the clock was set back, the remaining times are kept.
 */
export function advanceEscalation(
  policy: EscalationPolicy | null,
  state: EscalationState,
  at: { readonly now: number; readonly isReachable: (stepNumber: number) => boolean },
): { readonly state: EscalationState; readonly pages: readonly EscalationPage[] } {
  const { now } = at;
  const begun = shiftedToClock(state, now);
  if (policy === null || !begun.isOpen) return { state: { ...begun, decidedAt: now }, pages: [] };
  const { round } = begun;
  const pages: EscalationPage[] = [];
  let { repeats, repeatedAt, stepsDone } = begun;
  const repeatAt = nextRepeatAt(policy, begun);
  if (repeatAt !== null && repeatAt <= now) {
    repeats += 1;
    repeatedAt = now;
    pages.push({ kind: 'repeat', round, number: repeats });
  }
  for (let isAtOnce = false; stepsDone < policy.steps.length;) {
    if (!isAtOnce && begun.startedAt + policy.steps[stepsDone]!.afterMs > now) break;
    stepsDone += 1;
    const isSkipped = !at.isReachable(stepsDone);
    pages.push({ kind: 'step', round, number: stepsDone, isSkipped });
    isAtOnce = isSkipped;
  }
  return { state: { ...begun, repeats, repeatedAt, stepsDone, decidedAt: now }, pages };
}

/** Moves the times of a state from before a clock was set back, so that the remaining times are the same. */
function shiftedToClock(state: EscalationState, now: number): EscalationState {
  const byMs = state.decidedAt - now;
  if (byMs <= clockStepMs) return state;
  return { ...state, startedAt: state.startedAt - byMs, repeatedAt: state.repeatedAt - byMs };
}
