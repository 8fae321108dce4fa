import { requiresAck } from '@tocsin/shared/domain/escalation/escalation-policy.ts';
import { actorOf, type Caller } from '@tocsin/shared/domain/accounts/caller.ts';
import { AppError } from '@tocsin/shared/domain/errors.ts';
import type { LogRecord } from '@tocsin/shared/domain/messages/log-record.ts';
import type { Message, StoredMessage } from '@tocsin/shared/domain/messages/message.ts';
import { lifetimeMsOf, retentionDaysOf, tierInForce } from '@tocsin/shared/domain/accounts/tiers.ts';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import { within } from '@tocsin/shared/async/within.ts';
import { newEscalation, policyFor } from '@tocsin/shared/operations/escalation/escalation-times.ts';
import { openEscalation } from '@tocsin/shared/operations/escalation/open-escalation.ts';
import { makeSecret } from '@tocsin/shared/platform/secrets.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { rateLimitHeaders, requireBudget } from '../../http/rate-limit.ts';
import type { MessageFields } from './message-fields.ts';
import { replaceInSequence, resolveSequences } from './replace-in-sequence.ts';
import { findKey, type Reservation } from './reserve-key.ts';
import { storeScheduled } from './store-scheduled.ts';

/** How long a publish waits until its escalation is open. */
const openWithinMs = 1_000;

export type PublishDeps = Pick<
  ApiDeps,
  'clock' | 'config' | 'directory' | 'engine' | 'inlineStore' | 'log' | 'makeId' | 'rateLimits'
>;

export interface PublishInput {
  readonly topic: Topic;
  readonly fields: MessageFields;
  readonly idempotencyKey: string | undefined;
}

export interface Published {
  /** With its offset if it is on the log. */
  readonly message: Message | StoredMessage;
  /** When a message that is not on the log yet will be; null for others. */
  readonly scheduledFor: number | null;
  /** Whether this is the result of an earlier publish with the same Idempotency-Key. */
  readonly isReplay: boolean;
  /** The rate limit after this publish; a replay does not count. */
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Publishes a message: rate limit, reservation of the key, log, document. Resolves once it is durable on the log, or
 * among the scheduled messages.
 *
 * Throws `limited` without counting, `conflict` while the key is in flight, and `unavailable` if the log did not accept
 * it in time: the outcome is then unknown, the rate limit is restored, and a retry with the same key can only
 * become this message.
 */
export async function publishMessage(deps: PublishDeps, caller: Caller, input: PublishInput): Promise<Published> {
  // Create the ID before reading the time: a reader that continues from the time in this ID must not skip its message.
  const id = deps.makeId();
  const now = deps.clock();
  const { topic, fields, idempotencyKey: key } = input;
  const state =
    key === undefined
      ? undefined
      : await findKey(
          { documents: deps.engine.documents, messages: deps.engine.messages },
          { caller, topicId: topic.id, key },
          now,
        );
  if (state?.kind === 'published') {
    const { message, scheduledFor } = state;
    return { message, scheduledFor, isReplay: true, headers: {} };
  }
  const { scheduledFor, ttlMs } = fields;
  const lifetimeMs = lifetimeWithin(await lifetimeMsAt(deps, topic, now), ttlMs);
  const timestamp = scheduledFor ?? now;
  const expiresAt = timestamp + lifetimeMs;

  const budget = await deps.rateLimits.takePublish(caller, now);
  requireBudget(budget, now);
  let reservation: Reservation | undefined;
  try {
    const reserveId = async () => (reservation = await state?.reserve(id))?.messageId ?? id;
    const make = (messageId: string) => newMessage(caller, input, { id: messageId, timestamp, expiresAt });
    const publish = (messageId: string) => appendMessage(deps, topic, make(messageId));
    const publishNow = async (): Promise<StoredMessage> => {
      const { sequenceIds, isResolved } = fields;
      if (sequenceIds.length === 0) return publish(await reserveId());
      const of = { caller, topic, sequenceIds };
      if (!isResolved) return replaceInSequence(deps, { ...of, fields, expiresAt }, { reserveId, publish });
      await resolveSequences(deps, of);
      return publish(await reserveId());
    };
    const message =
      scheduledFor !== null
        ? await storeScheduled(deps.engine.documents, caller, { message: make(await reserveId()), scheduledFor, ttlMs })
        : await publishNow();
    return { message, scheduledFor, isReplay: false, headers: budget === null ? {} : rateLimitHeaders(budget) };
  } catch (error) {
    await Promise.all([deps.rateLimits.refundPublish(budget, deps.clock()), reservation?.fail()]);
    throw error;
  }
}

function newMessage(
  caller: Caller,
  { topic, fields }: PublishInput,
  made: Pick<Message, 'id' | 'timestamp' | 'expiresAt'>,
): Message {
  return {
    ...made,
    topicId: topic.id,
    message: fields.message,
    title: fields.title,
    priority: fields.priority,
    tags: fields.tags,
    markdown: fields.markdown,
    isDeleted: false,
    isEdited: false,
    deletedAt: null,
    editedAt: null,
    click: fields.click,
    actions: fields.actions,
    iconUrl: fields.iconUrl,
    isSilent: fields.isSilent,
    requiresAck: requiresAck(topic.escalation, fields.priority),
    acknowledgement: null,
    restoredAt: null,
    publishedBy: actorOf(caller),
  };
}

/**
 * Appends a new message to the log and resolves once it is also readable, or the wait for that is over. Throws
 * `unavailable`: the outcome is then unknown.
 */
export async function appendMessage(
  deps: Pick<ApiDeps, 'clock' | 'engine' | 'inlineStore' | 'log'>,
  topic: Topic,
  message: Message,
): Promise<StoredMessage> {
  const { nodeId } = deps.inlineStore;
  const record: LogRecord = {
    type: 'message',
    timestamp: message.timestamp,
    message,
    ...(nodeId === undefined ? {} : { waitingNode: nodeId }),
  };
  const offset = await deps.engine.eventLog.append(topic.partition, record, topic.name);
  await Promise.all([
    deps.inlineStore.store({ partition: topic.partition, offset, record }),
    message.requiresAck ? openSoon(deps, topic, message) : undefined,
  ]);
  return { ...message, offset };
}

/**
 * Opens the escalation, so that the message is among the unacknowledged ones after the response. The notifier opens it
 * otherwise, so a failure or a slow store does not fail the publish.
 */
async function openSoon(
  { clock, engine: { documents }, log }: Pick<ApiDeps, 'clock' | 'engine' | 'log'>,
  topic: Topic,
  message: Message,
): Promise<void> {
  const made = { now: clock(), ackKey: makeSecret() };
  const opened = openEscalation(documents, newEscalation(message, policyFor(topic, message.priority), made));
  await within(openWithinMs, 'the escalation', opened).catch((error: unknown) =>
    log.debug({ err: error, messageId: message.id }, 'escalation not opened, leaving it to the notifier'),
  );
}

/** Throws 422 for a lifetime beyond the topic's retention. */
function lifetimeWithin(retentionMs: number, ttlMs: number | null): number {
  if (ttlMs !== null && ttlMs > retentionMs)
    throw new AppError(
      'unprocessable',
      `ttl: must be at most the topic's retention of ${Math.floor(retentionMs / 1_000)}s`,
    );
  return ttlMs ?? retentionMs;
}

/** Returns the lifetime of a message that is published now; the current tier of the topic's owner applies. */
export async function lifetimeMsAt(
  deps: Pick<ApiDeps, 'config' | 'directory'>,
  topic: Topic,
  now: number,
): Promise<number> {
  const owner = await deps.directory.user(topic.ownerId);
  return lifetimeMsOf(topic, retentionDaysOf(deps.config)[owner === null ? 'FREE' : tierInForce(owner, now)]);
}
