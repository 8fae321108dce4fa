import type { Platform } from './device.ts';
import type { PageName } from '../escalation/escalation-state.ts';
import { ledgerKey } from '../escalation/ledger-key.ts';
import type { Priority } from '../messages/message.ts';

/**
 * Jobs of the notifier's queues. They contain IDs only. The worker looks up message text and push tokens when a job
 * runs, so that the text is current and the queue contains no content.
 */
export type PushJob =
  | PageJob
  | StepJob
  | SendJob
  | TestPushJob
  | ReceiptsJob
  | RenotifyTopicJob
  | SummaryJob
  | ReplaceJob
  | AcknowledgedJob;

/** Push to a page of the topic's recipients. */
export interface PageJob {
  readonly kind: 'walk';
  readonly messageId: string;
  readonly topicId: string;
  /** The last subscription of the previous page; null for the first page. */
  readonly after: string | null;
  /** The publish time. Limits how long the job waits for a message that is not stored yet. */
  readonly publishedAt: number;
  /**
   * ID of the replay request. If set, pushes only to devices that missed the message, including devices with a final
   * status.
   */
  readonly renotify?: string | undefined;
  /** The repeat of an escalation; absent for the first push of the message. */
  readonly page?: PageName | undefined;
}

/** Push a message to the users of a step of its escalation. */
export interface StepJob {
  readonly kind: 'step';
  readonly messageId: string;
  readonly topicId: string;
  readonly page: PageName;
}

/** Push a topic's messages of a period again to devices that missed them. */
export interface RenotifyTopicJob {
  readonly kind: 'renotify';
  readonly topicId: string;
  /** The publish period, both ends inclusive. */
  readonly from: number;
  readonly to: number;
  /** The last offset of the previous page of messages; null for the first. */
  readonly after: number | null;
  /** Distinguishes this request from others of the same topic. */
  readonly request: string;
}

/** Push again to devices whose provider asked for a retry. */
export interface SendJob {
  readonly kind: 'send';
  readonly messageId: string;
  readonly topicId: string;
  /** The platform of all targets; absent in jobs of older versions. */
  readonly platform?: Platform;
  /** Absent in jobs of older versions: not urgent. */
  readonly isUrgent?: boolean;
  readonly targets: readonly PushTargetIds[];
  /** The page of an escalation; absent for the first push of the message. */
  readonly page?: PageName | undefined;
  /** The number of earlier attempts, at least 1. */
  readonly round: number;
  /** No retries after this time; failures then become dead letters. */
  readonly giveUpAt: number;
}

export interface PushTargetIds {
  readonly deviceId: string;
  readonly userId: string;
  readonly subscriptionId: string;
}

/** A test push requested by the device's owner. It is recorded as `lastTest` of the device, not in the ledger. */
export interface TestPushJob {
  readonly kind: 'test';
  readonly deviceId: string;
  /** Milliseconds since the epoch; absent in jobs of older versions. */
  readonly requestedAt?: number;
}

/** Fetch the provider's receipts for accepted pushes. */
export interface ReceiptsJob {
  readonly kind: 'receipts';
  readonly messageId: string;
  readonly topicId: string;
  readonly platform: Platform;
  readonly page?: PageName | undefined;
  /** When the push tokens were read. */
  readonly sentAt: number;
  readonly pushes: readonly (PushTargetIds & { readonly ticket: string })[];
}

/** Notify a subscriber of the number of messages held back in quiet hours or beyond the limit per minute. */
export interface SummaryJob {
  readonly kind: 'summary';
  readonly subscriptionId: string;
  readonly of: HeldBackSpan;
  /** Only these devices, for a retry; absent: all devices of the subscriber. */
  readonly deviceIds?: readonly string[];
  /** The number of earlier attempts. */
  readonly round?: number;
}

/** Replace the notification of an edited or deleted message on a page of the devices that received it. */
export interface ReplaceJob {
  readonly kind: 'replace';
  readonly messageId: string;
  readonly topicId: string;
  /** Time of the edit or deletion. */
  readonly changedAt: number;
  /** 0: the first push; n: the n-th page of the escalation. Absent in jobs of older versions: 0. */
  readonly pageIndex?: number | undefined;
  /** The last device of the previous page; null for the first page. */
  readonly after: string | null;
  /** Only these devices, for a retry; absent: the devices of the page. */
  readonly deviceIds?: readonly string[];
  /** The number of earlier attempts. */
  readonly round?: number;
}

/** Replace the notifications of an acknowledged message, on a page of the devices that one of its pages reached. */
export interface AcknowledgedJob {
  readonly kind: 'acknowledged';
  readonly messageId: string;
  readonly topicId: string;
  readonly acknowledgedAt: number;
  /** 0: the first push; n: the n-th page of the escalation. */
  readonly pageIndex: number;
  /** The last device of the previous page; null for the first page. */
  readonly after: string | null;
  /** Only these devices, for a retry; absent: the devices of the page. */
  readonly deviceIds?: readonly string[];
  /** The number of earlier attempts. */
  readonly round?: number;
}

export type HeldBackSpan =
  /** From `from` (inclusive) to `to` (exclusive). Messages above `priorityMax` were pushed. */
  | { readonly why: 'quiet_hours'; readonly from: number; readonly to: number; readonly priorityMax: number }
  /** The clock minute that ends at `to`; `limit` of its messages were pushed. */
  | { readonly why: 'max_per_minute'; readonly to: number; readonly limit: number };

/**
 * A flood of normal messages does not delay urgent ones, and vice versa; nor do later pages of large messages delay
 * others.
 */
export const pushQueues = {
  urgent: 'push-urgent',
  normal: 'push-normal',
  urgentPages: 'push-urgent-pages',
  normalPages: 'push-normal-pages',
} as const;
export type PushQueue = (typeof pushQueues)[keyof typeof pushQueues];

/** Receipts have long delays and low urgency, so they have their own queue. */
export const receiptsQueue = 'push-receipts';

/** Priority 4 and 5 are urgent. */
export function isUrgent(priority: Priority): boolean {
  return priority >= 4;
}

export function pushQueueOf(priority: Priority): PushQueue {
  return isUrgent(priority) ? pushQueues.urgent : pushQueues.normal;
}

/** Returns the queue of jobs for more devices than a first page has. */
export function pageQueueOf(priority: Priority): PushQueue {
  return isUrgent(priority) ? pushQueues.urgentPages : pushQueues.normalPages;
}

/** A job with its queue priority, where lower numbers run first. */
export interface QueuedPush {
  readonly id: string;
  readonly data: { readonly [key: string]: unknown };
  readonly priority: number;
  readonly delayMs?: number;
  readonly attempts?: number;
  readonly backoffMs?: number;
  readonly isRemembered?: boolean;
}

/** Returns the job of a page. Its ID consists of message and page, so that a repeated record is processed once. */
export function pageJob(page: Omit<PageJob, 'kind'>, priority: Priority): QueuedPush {
  const of = ledgerKey(page.messageId, page.page);
  const prefix = page.renotify === undefined ? `push.${of}` : `renotify.${page.renotify}.${of}`;
  // New messages run before replays.
  const place = queuePriority(priority) + (page.renotify === undefined ? 0 : 5);
  return {
    id: page.after === null ? prefix : `${prefix}.${page.after}`,
    data: { kind: 'walk', ...page },
    priority: place,
  };
}

/** Returns the job of a step. Its ID contains the step, so that a repeated decision takes it once. */
export function stepJob(step: Omit<StepJob, 'kind'>, priority: Priority): QueuedPush {
  return {
    id: `push.${ledgerKey(step.messageId, step.page)}`,
    data: { kind: 'step', ...step },
    priority: queuePriority(priority),
  };
}

/** Returns the job of a page of a topic's messages, for the normal queue. */
export function renotifyTopicJob(page: Omit<RenotifyTopicJob, 'kind'>): QueuedPush {
  return {
    id: `renotify.${page.request}.from.${page.after ?? 'start'}`,
    data: { kind: 'renotify', ...page },
    priority: queuePriority(1),
  };
}

/** Returns a retry job with a new ID from the caller. */
export function sendJob(
  id: string,
  job: Omit<SendJob, 'kind' | 'isUrgent'>,
  at: { priority: Priority; delayMs: number },
): QueuedPush {
  return {
    id: `push.${job.messageId}.${id}`,
    data: { kind: 'send', ...job, isUrgent: isUrgent(at.priority) },
    priority: queuePriority(at.priority),
    delayMs: at.delayMs,
    isRemembered: false,
  };
}

/** Returns a job for `receiptsQueue` with a new ID from the caller. */
export function receiptsJob(id: string, job: Omit<ReceiptsJob, 'kind'>, delayMs: number): Omit<QueuedPush, 'priority'> {
  return { id: `receipts.${id}`, data: { kind: 'receipts', ...job }, delayMs, isRemembered: false };
}

/** The maximum number of attempts of a test push, within half a minute. */
export const testPushAttempts = 5;

/** Returns the job of a test push. It runs first in the urgent queue, because the user is waiting. */
export function testPushJob(id: string, deviceId: string, requestedAt: number): QueuedPush {
  return {
    id: `test.${id}`,
    data: { kind: 'test', deviceId, requestedAt },
    priority: 1,
    attempts: testPushAttempts,
    backoffMs: 2_000,
  };
}

/** Returns the job of a summary. Its ID contains the period, so that each period has one summary. */
export function summaryJob(summary: Omit<SummaryJob, 'kind'>, { at, now }: { at: number; now: number }): QueuedPush {
  return {
    id: `${summary.of.why}.${summary.subscriptionId}.${at}`,
    data: { kind: 'summary', ...summary },
    priority: queuePriority(1),
    delayMs: at - now,
  };
}

/** Returns the job that replaces the notifications of a page of devices, or retries it. */
export function replaceJob(page: Omit<ReplaceJob, 'kind'>, delayMs = 0): QueuedPush {
  const { messageId, changedAt, pageIndex = 0, after, deviceIds, round = 0 } = page;
  const of = `replace.${messageId}.${changedAt}${pageIndex === 0 ? '' : `.${pageIndex}`}`;
  const id = `${of}.${deviceIds?.[0] ?? after ?? 'first'}.${round}`;
  return { id, data: { kind: 'replace', ...page }, priority: queuePriority(1), delayMs };
}

/** Returns the job that replaces the notifications of an acknowledged message, or retries it. */
export function acknowledgedJob(page: Omit<AcknowledgedJob, 'kind'>, delayMs = 0): QueuedPush {
  const { messageId, acknowledgedAt, pageIndex, after, deviceIds, round = 0 } = page;
  const of = `acknowledged.${messageId}.${acknowledgedAt}.${pageIndex}`;
  return {
    id: `${of}.${deviceIds?.[0] ?? after ?? 'first'}.${round}`,
    data: { kind: 'acknowledged', ...page },
    priority: queuePriority(1),
    delayMs,
  };
}

function queuePriority(priority: Priority): number {
  return (6 - priority) * 10;
}
