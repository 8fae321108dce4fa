import type { Platform } from './device.ts';
import type { Priority } from '../messages/message.ts';

/**
 * What the notifier's queues carry. Ids only: message text and push tokens are looked up when a job runs, so the text
 * is the one that stands then, and the queue holds nothing that is worth stealing.
 */
export type PushJob = WalkJob | SendJob | TestPushJob | ReceiptsJob | RenotifyTopicJob | SummaryJob | ReplaceJob;

/** Walk a page of the topic's recipients and push to them. */
export interface WalkJob {
  readonly kind: 'walk';
  readonly messageId: string;
  readonly topicId: string;
  /** The subscription that the former page ended with; null for the first page. */
  readonly after: string | null;
  /** When the message was published: how long a job waits for a message that is not stored yet is counted from here. */
  readonly publishedAt: number;
  /** Only those who missed the message, also where the ledger says that it is over; the id of who asked for that. */
  readonly renotify?: string | undefined;
}

/** Push a topic's messages of a time again to those who missed them. */
export interface RenotifyTopicJob {
  readonly kind: 'renotify';
  readonly topicId: string;
  /** Published in this time, both ends included. */
  readonly from: number;
  readonly to: number;
  /** The position that the former page of messages ended with; null for the first. */
  readonly after: number | null;
  /** Tells this demand from others of the same topic. */
  readonly request: string;
}

/** Push again to devices whose provider asked to come back later. */
export interface SendJob {
  readonly kind: 'send';
  readonly messageId: string;
  readonly topicId: string;
  /** That of all targets. */
  readonly platform: Platform;
  readonly targets: readonly PushTargetIds[];
  /** How often these devices were tried before, 1 or more. */
  readonly round: number;
  /** No try after this time: what fails then is a dead letter. */
  readonly giveUpAt: number;
}

export interface PushTargetIds {
  readonly deviceId: string;
  readonly userId: string;
  readonly subscriptionId: string;
}

/** A push that its owner asked for to see whether the device gets any. Leaves no trace in the ledger. */
export interface TestPushJob {
  readonly kind: 'test';
  readonly deviceId: string;
}

/** Ask a provider what became of pushes that it took some time ago. */
export interface ReceiptsJob {
  readonly kind: 'receipts';
  readonly messageId: string;
  readonly topicId: string;
  readonly platform: Platform;
  /** When the tokens were read that it was sent to. */
  readonly sentAt: number;
  readonly pushes: readonly (PushTargetIds & { readonly ticket: string })[];
}

/** Tell a subscriber how many messages were held back: in quiet hours, or beyond the limit of a minute. */
export interface SummaryJob {
  readonly kind: 'summary';
  readonly subscriptionId: string;
  readonly of: HeldBackSpan;
  /** Only to these, which were tried before; absent: to all of the subscriber's. */
  readonly deviceIds?: readonly string[];
  /** How often these were tried before. */
  readonly round?: number;
}

/** Show what became of a message, edited or deleted, to a page of the devices that it was pushed to. */
export interface ReplaceJob {
  readonly kind: 'replace';
  readonly messageId: string;
  readonly topicId: string;
  /** When the edit or deletion was made. */
  readonly changedAt: number;
  /** The device that the former page ended with; null for the first page. */
  readonly after: string | null;
  /** Only these, which were tried before; absent: the page's. */
  readonly deviceIds?: readonly string[];
  /** How often these were tried before. */
  readonly round?: number;
}

export type HeldBackSpan =
  /** From `from` up to, and without, `to`; `priorityMax`: those above it were not held back. */
  | { readonly why: 'quiet_hours'; readonly from: number; readonly to: number; readonly priorityMax: number }
  /** The minute of the clock that ends at `to`, of which `limit` were pushed. */
  | { readonly why: 'max_per_minute'; readonly to: number; readonly limit: number };

/** Two queues, so that a flood of ordinary messages never holds up an alarm, nor the other way round. */
export const pushQueues = { urgent: 'push-urgent', normal: 'push-normal' } as const;
export type PushQueue = (typeof pushQueues)[keyof typeof pushQueues];

/** Receipts wait long and are in no hurry: they stand in nobody's way here. */
export const receiptsQueue = 'push-receipts';

/** Priority 4 and 5 are urgent. */
export function isUrgent(priority: Priority): boolean {
  return priority >= 4;
}

export function pushQueueOf(priority: Priority): PushQueue {
  return isUrgent(priority) ? pushQueues.urgent : pushQueues.normal;
}

/** A job as a queue takes it: `priority` is the queue's, where lower numbers go first. */
export interface QueuedPush {
  readonly id: string;
  readonly data: { readonly [key: string]: unknown };
  readonly priority: number;
  readonly delayMs?: number;
  readonly attempts?: number;
  readonly backoffMs?: number;
}

/** The job of a page. Its id says message and page, so that a record that comes twice is walked once. */
export function walkJob(page: Omit<WalkJob, 'kind'>, priority: Priority): QueuedPush {
  const walk = page.renotify === undefined ? `push.${page.messageId}` : `renotify.${page.renotify}.${page.messageId}`;
  // What is new goes before what was missed.
  const place = queuePriority(priority) + (page.renotify === undefined ? 0 : 5);
  return { id: page.after === null ? walk : `${walk}.${page.after}`, data: { kind: 'walk', ...page }, priority: place };
}

/** The job of a page of a topic's messages, for the normal queue. */
export function renotifyTopicJob(page: Omit<RenotifyTopicJob, 'kind'>): QueuedPush {
  return {
    id: `renotify.${page.request}.from.${page.after ?? 'start'}`,
    data: { kind: 'renotify', ...page },
    priority: queuePriority(1),
  };
}

/** A job that tries again; the id is the caller's, a fresh one for each. */
export function sendJob(
  id: string,
  again: Omit<SendJob, 'kind'>,
  at: { priority: Priority; delayMs: number },
): QueuedPush {
  return {
    id: `push.${again.messageId}.${id}`,
    data: { kind: 'send', ...again },
    priority: queuePriority(at.priority),
    delayMs: at.delayMs,
  };
}

/** A job for `receiptsQueue`; the id is the caller's, a fresh one for each. */
export function receiptsJob(
  id: string,
  asked: Omit<ReceiptsJob, 'kind'>,
  delayMs: number,
): Omit<QueuedPush, 'priority'> {
  return { id: `receipts.${id}`, data: { kind: 'receipts', ...asked }, delayMs };
}

/** The job of a test push, for the urgent queue and before everything in it: someone is looking at the phone. */
export function testPushJob(id: string, deviceId: string): QueuedPush {
  return { id: `test.${id}`, data: { kind: 'test', deviceId }, priority: 1, attempts: 5, backoffMs: 2_000 };
}

/** The job of a summary; those of the same time are one. */
export function summaryJob(summary: Omit<SummaryJob, 'kind'>, { at, now }: { at: number; now: number }): QueuedPush {
  return {
    id: `${summary.of.why}.${summary.subscriptionId}.${at}`,
    data: { kind: 'summary', ...summary },
    priority: queuePriority(1),
    delayMs: at - now,
  };
}

/** The job of a page of a replacement, or of what is tried again of one. */
export function replaceJob(page: Omit<ReplaceJob, 'kind'>, delayMs = 0): QueuedPush {
  const { messageId, changedAt, after, deviceIds, round = 0 } = page;
  const id = `replace.${messageId}.${changedAt}.${deviceIds?.[0] ?? after ?? 'first'}.${round}`;
  return { id, data: { kind: 'replace', ...page }, priority: queuePriority(1), delayMs };
}

function queuePriority(priority: Priority): number {
  return (6 - priority) * 10;
}
