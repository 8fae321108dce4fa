import type { ContentFilter } from '../messages/content-filter.ts';

export const sinkKinds = ['webhook', 'slack', 'teams', 'discord'] as const;
export type SinkKind = (typeof sinkKinds)[number];

/** `paused`: by a manager, or after a day of failures. `disabled`: the receiver returned 410. */
export const sinkStates = ['active', 'paused', 'disabled'] as const;
export type SinkState = (typeof sinkStates)[number];

/** A receiver of a topic's records. Times are milliseconds since the epoch. */
export interface Sink {
  readonly id: string;
  readonly version: number;
  readonly topicId: string;
  /** The account that gets the email when the sink pauses. */
  readonly createdBy: string;
  readonly name: string;
  readonly kind: SinkKind;
  readonly url: string;
  /** Additional headers of each request. */
  readonly headers: Readonly<Record<string, string>>;
  readonly filter: ContentFilter;
  /** Signs the requests; with the prefix `whsec_`. Stored as it is, because each request needs it. */
  readonly secret: string;
  readonly createdAt: number;
  readonly state: SinkState;
  /** Why the sink is not active; null if a manager paused it. */
  readonly stateReason: string | null;
  /** The offset to send next. */
  readonly offset: number;
  /** Increases when a manager changes the state or the offset: progress from before is then void. */
  readonly revision: number;
  /** Attempts of the record at `offset`. */
  readonly attempts: number;
  /** The first failure since the last response that moved the sink on; null without one. */
  readonly failingSince: number | null;
  /** The earliest next attempt of the record at `offset`; null before the first one. A test does not change it. */
  readonly retryAt: number | null;
  /** Records that the receiver got, and those that it refused. */
  readonly delivered: number;
  readonly skipped: number;
  /** When a manager requested the test that was not sent yet. */
  readonly testAt: number | null;
  /** Whether it waits for a record beyond `offset`; a notifier then wakes it. */
  readonly isIdle: boolean;
  /** When a notifier looks at it next: its next attempt, or the end of a claim. Null if it waits for a record. */
  readonly dueAt: number | null;
  /** The claim of the notifier that works on it, until `dueAt`. */
  readonly claim: string | null;
}

/** Returns a new sink, which is due now. */
export function newSink(
  of: Pick<Sink, 'id' | 'topicId' | 'createdBy' | 'name' | 'kind' | 'url' | 'headers' | 'filter' | 'secret' | 'offset'>,
  now: number,
): Sink {
  return {
    ...of,
    version: 1,
    createdAt: now,
    state: 'active',
    stateReason: null,
    revision: 1,
    attempts: 0,
    failingSince: null,
    retryAt: null,
    delivered: 0,
    skipped: 0,
    testAt: null,
    isIdle: false,
    dueAt: now,
    claim: null,
  };
}

/** Returns the fields of a sink whose state or offset a manager changes: its attempts start again. */
export function restartedSink(
  stored: Sink,
  { state = stored.state, stateReason = stored.stateReason, offset = stored.offset }: Partial<Sink>,
  now: number,
): Partial<Sink> {
  const isDue = state === 'active' || stored.testAt !== null;
  return {
    ...{ state, stateReason, offset },
    revision: stored.revision + 1,
    attempts: 0,
    failingSince: null,
    retryAt: null,
    isIdle: false,
    // The holder of a claim completes its request and then reads the change.
    dueAt: stored.claim !== null ? stored.dueAt : isDue ? now : null,
  };
}

export const sinkLimits = {
  perTopic: 20,
  nameCodePoints: 80,
  headers: 20,
  headerCharacters: 1_000,
  deliveries: 1_000,
} as const;

/** Header names that the request sets itself, or that belong to one connection (RFC 9110 §7.6.1). */
const ownHeaders: ReadonlySet<string> = new Set([
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);
const ownPrefixes = ['webhook-', 'proxy-', 'ce-'];

/** RFC 9110 §5.6.2 and §5.5, without obsolete characters. */
const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/;
const headerValue = /^[\x21-\x7e]([\x20-\x7e\t]*[\x21-\x7e])?$/;

/** Returns the rule that the headers break, or null. */
export function headersFault(headers: Readonly<Record<string, string>>): string | null {
  const entries = Object.entries(headers);
  const names = entries.map(([name]) => name.toLowerCase());
  if (entries.length > sinkLimits.headers) return `must be at most ${sinkLimits.headers}`;
  if (new Set(names).size < names.length) return 'must not repeat a name';
  if (!entries.every(([name]) => headerName.test(name))) return 'must have names of HTTP headers';
  if (!entries.every(([, value]) => value.length <= sinkLimits.headerCharacters && headerValue.test(value)))
    return `must have values of 1 to ${sinkLimits.headerCharacters} visible ASCII characters`;
  const own = names.find((name) => ownHeaders.has(name) || ownPrefixes.some((prefix) => name.startsWith(prefix)));
  return own === undefined ? null : `must not contain ${own}`;
}

/** How a request ended: with a response, or without one in time. */
export type SinkAttempt =
  | { readonly kind: 'answer'; readonly status: number; readonly retryAfterMs: number | null }
  | { readonly kind: 'failure'; readonly reason: string };

export type SinkVerdict =
  | { readonly kind: 'delivered' | 'skipped' | 'disabled' | 'paused' }
  | { readonly kind: 'retry'; readonly afterMs: number };

const sinkRetries = {
  pauseMsMin: 2_000,
  pauseMsMax: 15 * 60_000,
  /** Failures during this time pause the sink. */
  failingMsMax: 24 * 3_600_000,
  /** Attempts of a record that the receiver refuses. */
  refusedMax: 5,
} as const;

/**
 * Decides what follows an attempt. `attempts` includes it; `failingSince` is the first failure in a row, at most now.
 * `random` is at least 0 and less than 1.
 */
export function judgeAttempt(
  attempt: SinkAttempt,
  of: { readonly attempts: number; readonly failingSince: number; readonly now: number; readonly random: number },
): SinkVerdict {
  const status = attempt.kind === 'answer' ? attempt.status : null;
  if (status !== null && status >= 200 && status < 300) return { kind: 'delivered' };
  if (status === 410) return { kind: 'disabled' };
  if (isRefusal(status)) {
    if (of.attempts >= sinkRetries.refusedMax) return { kind: 'skipped' };
  } else if (of.now - of.failingSince >= sinkRetries.failingMsMax) return { kind: 'paused' };
  const retryAfterMs = attempt.kind === 'answer' ? (attempt.retryAfterMs ?? 0) : 0;
  return { kind: 'retry', afterMs: Math.max(pauseAfter(of.attempts, of.random), retryAfterMs) };
}

/** Whether the receiver does not want the record. Redirects are refusals, because they are not followed. */
export const isRefusal = (status: number | null): boolean => status !== null && status < 500 && status !== 429;

/** Doubles with each attempt, and varies by a quarter so that the retries of many sinks do not coincide. */
function pauseAfter(attempts: number, random: number): number {
  const { pauseMsMin, pauseMsMax } = sinkRetries;
  const whole = pauseMsMin * 2 ** Math.min(attempts - 1, 20);
  return Math.round(Math.min(Math.max(whole * (0.75 + random / 2), pauseMsMin), pauseMsMax));
}

export const deliveryOutcomes = ['delivered', 'retrying', 'skipped', 'disabled', 'paused'] as const;

/** The last attempt of a record, or a test. */
export interface SinkDelivery {
  /** Null for a test. */
  readonly offset: number | null;
  /** `webhook-id`. */
  readonly requestId: string;
  readonly outcome: (typeof deliveryOutcomes)[number];
  /** Null without a response. */
  readonly status: number | null;
  /** Why there is no response; null with one. */
  readonly error: string | null;
  readonly attempts: number;
  /** The duration of the last attempt. */
  readonly milliseconds: number;
  readonly at: number;
}
