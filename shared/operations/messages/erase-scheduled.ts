import {
  accountWasDeleted,
  endOf,
  topicWasDeleted,
  type ScheduledMessage,
} from '../../domain/messages/scheduled-message.ts';
import { write, type Documents, type Query, type Write } from '../../ports/documents.ts';
import { scheduledMessages } from '../../collections/messages/scheduled-messages.ts';
import { retryStale } from '../../documents/retry-stale.ts';

/**
 * Drops waiting messages of a deleted topic, which removes their content. Resolves with the number of dropped ones, at
 * most `limit`. Their publishers can still read why.
 */
export function dropScheduledOfTopic(
  documents: Documents,
  topicId: string,
  at: { limit: number; now: number },
): Promise<number> {
  const query = { index: 'byTopicDue', equals: { topicId }, from: 0, limit: at.limit };
  return changeFound(documents, query, (scheduled) =>
    write.update(scheduledMessages, scheduled, dropped(scheduled, topicWasDeleted, at.now)),
  );
}

/**
 * Removes a deleted account from scheduled messages: those that it published in its own topics disappear, those of
 * others' topics no longer name it, and waiting ones are dropped. Resolves with the number of changed ones, at most
 * `limit`.
 */
export async function eraseScheduledOf(
  documents: Documents,
  userId: string,
  at: { limit: number; now: number },
): Promise<number> {
  const ofTopics = { index: 'byTopicOwner', equals: { topicOwnerId: userId }, limit: at.limit };
  const erased = await changeFound(documents, ofTopics, (scheduled) =>
    scheduled.guestId === null
      ? write.remove(scheduledMessages, scheduled.id, scheduled.version)
      : write.update(scheduledMessages, scheduled, {
          ...dropped(scheduled, topicWasDeleted, at.now),
          topicOwnerId: null,
        }),
  );
  if (erased > 0) return erased;
  const asGuest = { index: 'byGuest', equals: { guestId: userId }, limit: at.limit };
  return changeFound(documents, asGuest, (scheduled) =>
    scheduled.topicOwnerId === null
      ? write.remove(scheduledMessages, scheduled.id, scheduled.version)
      : write.update(scheduledMessages, scheduled, {
          ...dropped(scheduled, accountWasDeleted, at.now),
          guestId: null,
          publisher: { kind: 'anonymous' },
        }),
  );
}

/** The changes of a message that can no longer be delivered; none if it ended before. */
const dropped = (scheduled: ScheduledMessage, reason: string, now: number): Partial<ScheduledMessage> =>
  scheduled.endedAt === null ? endOf(scheduled, { state: 'dropped', reason }, now) : {};

function changeFound(
  documents: Documents,
  query: Query<ScheduledMessage>,
  change: (scheduled: ScheduledMessage) => Write,
): Promise<number> {
  return retryStale(async () => {
    const found = await documents.find(scheduledMessages, query);
    if (found.length > 0) await documents.commit(found.map(change));
    return found.length;
  });
}
