import { AppError } from '@tocsin/shared/domain/errors.ts';
import type { LogRecord } from '@tocsin/shared/domain/messages/log-record.ts';
import { requireOriginal, type StoredMessage } from '@tocsin/shared/domain/messages/message.ts';
import { reachesTier, tierInForce } from '@tocsin/shared/domain/accounts/tiers.ts';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import { isUuid } from '@tocsin/shared/platform/ids.ts';
import { withMessageLocked } from '@tocsin/shared/collections/message-locks.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { auditOf } from '../../audit.ts';
import { openTopicByName, pathId } from '../../http/load-topic.ts';
import type { RequestContext } from '../../http/route.ts';
import { appendChange } from '../../storing/append-change.ts';

export interface ManagedMessage {
  readonly topic: Topic;
  readonly messageId: string;
}

/**
 * A route's `load`: the message in the path if the caller manages its topic and the topic's owner has the required
 * tier. Throws 404 for an unknown topic, 401 and 403, then 404 for a hidden message, 403 for the tier, and 422 for a
 * malformed ID.
 */
export function loadManagedMessage(
  deps: Pick<ApiDeps, 'clock' | 'directory' | 'engine'>,
): (context: RequestContext) => Promise<ManagedMessage> {
  return async (context) => {
    const topic = await openTopicByName(deps.directory, context.caller, {
      name: context.params['topic_name']!,
      act: 'manage',
    });
    // A malformed ID cannot match a message, so check the tier first.
    const sought = context.params['message_id']!;
    await requireChangeable(deps, { topic, messageId: isUuid(sought) ? sought.toLowerCase() : null }, context.now);
    return { topic, messageId: pathId(context, 'message_id') };
  };
}

/** Throws 404 for a hidden message, then 403 for the tier of the topic's owner. Null skips the first check. */
export async function requireChangeable(
  deps: Pick<ApiDeps, 'clock' | 'directory' | 'engine'>,
  { topic, messageId }: { readonly topic: Topic; readonly messageId: string | null },
  now: number,
): Promise<void> {
  const [owner] = await Promise.all([
    deps.directory.user(topic.ownerId),
    messageId === null ? null : findShown(deps, topic, messageId),
  ]);
  if (owner === null || !reachesTier(tierInForce(owner, now), 'ESSENTIALS'))
    throw new AppError('forbidden', 'Requires the ESSENTIALS tier or higher');
}

/** Returns the topic's message if history shows it. Throws 404 otherwise, also for deleted and expired messages. */
async function findShown(
  deps: Pick<ApiDeps, 'clock' | 'engine'>,
  topic: Topic,
  messageId: string,
): Promise<StoredMessage> {
  const message = await deps.engine.messages.find(messageId);
  const isShown =
    message !== null && message.topicId === topic.id && !message.isDeleted && message.expiresAt > deps.clock();
  if (!isShown) throw new AppError('not_found', 'Message not found');
  return message;
}

export interface MessageChange<R extends LogRecord | null> {
  readonly action: 'message.edited' | 'message.deleted';
  /** Returns the record for the current message, or null for no change. */
  readonly decide: (message: StoredMessage, now: number) => R;
}

/**
 * Changes a message. The audit entry is stored first, so that no change lacks one. Then the record goes to the log,
 * which makes the change, and to the store. Changes of one message are serialized, so that no change applies to a
 * replaced version. Resolves with the record and the message before the change.
 *
 * Throws 404 if the message is no longer visible, 409 if it was restored from the archive, and `unavailable` if the log
 * did not accept the record in time: the outcome is then unknown.
 */
export function changeMessage<R extends LogRecord | null>(
  deps: Pick<ApiDeps, 'clock' | 'engine' | 'log' | 'makeId' | 'wholeAddress'>,
  context: RequestContext,
  { topic, messageId }: ManagedMessage,
  { action, decide }: MessageChange<R>,
): Promise<{ before: StoredMessage; record: R }> {
  const { documents } = deps.engine;
  return withMessageLocked({ documents, clock: deps.clock }, messageId, async () => {
    const before = await findShown(deps, topic, messageId);
    requireOriginal(before);
    const record = decide(before, deps.clock());
    if (record === null) return { before, record };
    const audit = auditOf(deps, context);
    const within = { type: 'topic', id: topic.id } as const;
    await documents.commit(audit({ action, subject: { id: messageId }, within, details: {} }));
    await appendChange(deps, topic, record);
    return { before, record };
  });
}
