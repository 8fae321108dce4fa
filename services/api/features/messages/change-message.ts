import { AppError } from '@tocsin/shared/domain/errors.ts';
import type { LogRecord } from '@tocsin/shared/domain/messages/log-record.ts';
import type { StoredMessage } from '@tocsin/shared/domain/messages/message.ts';
import { reachesTier, tierInForce } from '@tocsin/shared/domain/accounts/tiers.ts';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import type { Write } from '@tocsin/shared/ports/documents.ts';
import { isUuid } from '@tocsin/shared/platform/ids.ts';
import { settledWithin } from '@tocsin/shared/async/settled-within.ts';
import { withMessageLocked } from '@tocsin/shared/collections/message-locks.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { openTopicByName, pathId } from '../../http/load-topic.ts';
import type { RequestContext } from '../../http/route.ts';

/** A change waits this long for its document; it is durable already, and the fan-out writes what is missing. */
const storeMsMax = 2_000;

export interface ManagedMessage {
  readonly topic: Topic;
  readonly messageId: string;
}

/**
 * A route's `load`: the message in the path, if the caller manages its topic and the topic's owner has the tier for it.
 * Throws 404 for an unknown topic, 401 and 403, then 404 for a message that is not shown, 403 for the tier, and 422 for what is no id.
 */
export function loadManagedMessage(deps: ApiDeps): (context: RequestContext) => Promise<ManagedMessage> {
  return async (context) => {
    const topic = await openTopicByName(deps.directory, context.caller, {
      name: context.params['topic_name']!,
      act: 'manage',
    });
    // What is no id names nothing that could exist: the tier comes first then.
    const sought = context.params['message_id']!;
    const [owner] = await Promise.all([
      deps.directory.user(topic.ownerId),
      isUuid(sought) ? findShown(deps, topic, sought.toLowerCase()) : null,
    ]);
    if (owner === null || !reachesTier(tierInForce(owner, context.now), 'ESSENTIALS')) {
      throw new AppError('forbidden', 'Requires the ESSENTIALS tier or higher');
    }
    return { topic, messageId: pathId(context, 'message_id') };
  };
}

/** The topic's message, if history shows it. Throws 404 for any other, a deleted or expired one too. */
async function findShown(deps: ApiDeps, topic: Topic, messageId: string): Promise<StoredMessage> {
  const message = await deps.engine.messages.find(messageId);
  const isShown =
    message !== null && message.topicId === topic.id && !message.isDeleted && message.expiresAt > deps.clock();
  if (!isShown) throw new AppError('not_found', 'Message not found');
  return message;
}

/**
 * Changes a message: `decide` makes the record from the message as it stands, or null to leave it so. The record goes to
 * the log first, which is when the change is made, and then to the store. One change of a message at a time, so that
 * none is made to what another has replaced meanwhile. Resolves with the record and the message that it was made from.
 * `recorded` is what the audit log has of it: it is stored before, so that no change is without it.
 *
 * Throws 404 for a message that is not shown any more. `unavailable` when the log did not take the record in time: the
 * outcome is then unknown.
 */
export function changeMessage<R extends LogRecord | null>(
  deps: ApiDeps,
  { topic, messageId }: ManagedMessage,
  decide: (message: StoredMessage, now: number) => R,
  recorded: readonly Write[] = [],
): Promise<{ before: StoredMessage; record: R }> {
  const { eventLog, documents } = deps.engine;
  return withMessageLocked({ documents, clock: deps.clock }, messageId, async () => {
    const before = await findShown(deps, topic, messageId);
    const record = decide(before, deps.clock());
    if (record === null) return { before, record };
    if (recorded.length > 0) await documents.commit(recorded);
    const offset = await eventLog.append(topic.partition, record, topic.name);
    await storeSoon(deps, topic, { offset, record });
    return { before, record };
  });
}

/** Never rejects: the log has the record. */
async function storeSoon(
  deps: ApiDeps,
  { id, partition }: Topic,
  placed: { offset: number; record: LogRecord },
): Promise<void> {
  const stored = deps.engine.messages.apply([{ partition, ...placed }]).catch((error: unknown) => {
    deps.log.warn(
      { err: error, topicId: id, offset: placed.offset },
      'a change was not stored at once, the fan-out will store it',
    );
  });
  await settledWithin(storeMsMax, [stored]);
}
