import {
  endOf,
  topicWasDeleted,
  type ScheduledEnd,
  type ScheduledMessage,
} from '@tocsin/shared/domain/messages/scheduled-message.ts';
import type { StoredMessage } from '@tocsin/shared/domain/messages/message.ts';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import { StaleVersion, write, type Documents } from '@tocsin/shared/ports/documents.ts';
import { scheduledMessages } from '@tocsin/shared/collections/messages/scheduled-messages.ts';
import { retryStale } from '@tocsin/shared/documents/retry-stale.ts';
import type { ApiDeps } from '../../../api-deps.ts';
import { appendMessage, lifetimeMsAt } from '../publish-message.ts';
import { refusalOf } from './refusal-of.ts';

export type DeliverDeps = Pick<
  ApiDeps,
  'accessTokens' | 'clock' | 'config' | 'directory' | 'engine' | 'inlineStore' | 'log'
>;

/**
 * How long a claim of a message lasts: longer than any append, so that a later one belongs to a node that died. An
 * embedded server delivers batches one after another, so each of its earlier claims belongs to a dead process.
 */
const claimMs = { cluster: 10_000, embedded: 0 } as const;

/** Messages that are due by the clock that all nodes share. */
export interface DueMessages {
  readonly due: readonly ScheduledMessage[];
  readonly now: number;
}

/** What a batch came to. */
export interface BatchOutcome {
  readonly delivered: readonly StoredMessage[];
  readonly dropped: number;
  /** Appends with an unknown outcome, which a later batch repeats. */
  readonly unconfirmed: number;
}

/** A change of a scheduled message, and what follows its commit. */
interface Step {
  readonly of: ScheduledMessage;
  readonly set: Partial<ScheduledMessage>;
  /** The topic to append to; null for an end. */
  readonly topic: Topic | null;
}

/**
 * Delivers messages that are due: claims them in one commit, appends them to the log, and marks them in another one.
 *
 * A message is on the log once, whatever dies in between: a claim that did not end is repeated with the same message ID
 * unless the store has the message, and the store ignores a second record of an ID. Of concurrent nodes, the one whose
 * claim commits delivers a message.
 */
export async function deliverBatch(deps: DeliverDeps, { due, now }: DueMessages): Promise<BatchOutcome> {
  const { documents, messages } = deps.engine;
  const tried = due.filter(({ attemptExpiresAt }) => attemptExpiresAt !== null);
  const onLog = new Set(
    tried.length === 0 ? [] : (await messages.findMany(tried.map(({ id }) => id))).map(({ id }) => id),
  );
  const steps: Step[] = [];
  const claimedUntil = now + claimMs[deps.engine.kind];
  for (const scheduled of due)
    steps.push(await decide(deps, { scheduled, isOnLog: onLog.has(scheduled.id), claimedUntil }));
  const committed = await commitSteps(documents, steps);

  const claimed = committed.flatMap(({ of, set, topic }) =>
    topic === null ? [] : [{ scheduled: { ...of, ...set, version: of.version + 1 }, topic }],
  );
  const appended = await Promise.allSettled(claimed.map((one) => append(deps, one)));
  const delivered = appended.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
  const endedAt = deps.clock();
  await commitSteps(
    documents,
    delivered.map(({ scheduled }) => ({
      of: scheduled,
      set: endOf(scheduled, { state: 'delivered' }, endedAt),
      topic: null,
    })),
  );
  const [failure] = appended.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as unknown] : []));
  const unconfirmed = claimed.length - delivered.length;
  if (unconfirmed > 0)
    deps.log.warn({ err: failure, messages: unconfirmed }, 'scheduled messages not appended, retrying');
  return {
    delivered: delivered.map(({ message }) => message),
    dropped: committed.filter(({ set }) => set.state === 'dropped').length,
    unconfirmed,
  };
}

async function decide(
  deps: DeliverDeps,
  { scheduled, isOnLog, claimedUntil }: { scheduled: ScheduledMessage; isOnLog: boolean; claimedUntil: number },
): Promise<Step> {
  const now = deps.clock();
  const end = (how: ScheduledEnd): Step => ({ of: scheduled, set: endOf(scheduled, how, now), topic: null });
  if (isOnLog) return end({ state: 'delivered' });
  // It may have been published and removed again.
  if (scheduled.attemptExpiresAt !== null && scheduled.attemptExpiresAt <= now)
    return end({ state: 'dropped', reason: 'Expired before its delivery was confirmed' });
  const topic = await deps.directory.topic(scheduled.topicId);
  if (topic === null) return end({ state: 'dropped', reason: topicWasDeleted });
  const refusal = await refusalOf(deps, scheduled.publisher, topic);
  if (refusal !== null) return end({ state: 'dropped', reason: refusal });
  const attemptExpiresAt = now + (await lifetimeMsOf(deps, scheduled, topic));
  return { of: scheduled, set: { dueAt: claimedUntil, attemptExpiresAt }, topic };
}

async function append(
  deps: DeliverDeps,
  { scheduled, topic }: { scheduled: ScheduledMessage; topic: Topic },
): Promise<{ scheduled: ScheduledMessage; message: StoredMessage }> {
  const lifetimeMs = await lifetimeMsOf(deps, scheduled, topic);
  const timestamp = deps.clock();
  const expiresAt = timestamp + lifetimeMs;
  return { scheduled, message: await appendMessage(deps, topic, { ...scheduled.message, timestamp, expiresAt }) };
}

/** The lifetime of the message if it is appended now. The topic's retention may have become shorter than its own. */
async function lifetimeMsOf(deps: DeliverDeps, { ttlMs }: ScheduledMessage, topic: Topic): Promise<number> {
  return Math.min(ttlMs ?? Infinity, await lifetimeMsAt(deps, topic, deps.clock()));
}

/** Commits the steps together, without those of messages that changed meanwhile. Resolves with the committed ones. */
async function commitSteps(documents: Documents, steps: readonly Step[]): Promise<readonly Step[]> {
  let current = steps;
  await retryStale(async () => {
    if (current.length === 0) return;
    try {
      await documents.commit(current.map(({ of, set }) => write.update(scheduledMessages, of, set)));
    } catch (error) {
      if (error instanceof StaleVersion) current = await withoutChanged(documents, current);
      throw error;
    }
  });
  return current;
}

async function withoutChanged(documents: Documents, steps: readonly Step[]): Promise<Step[]> {
  const found = await documents.pick(
    scheduledMessages,
    steps.map(({ of }) => of.id),
    ['version'],
  );
  const versions = new Map(found.map(({ id, version }) => [id, version]));
  return steps.filter(({ of }) => versions.get(of.id) === of.version);
}
