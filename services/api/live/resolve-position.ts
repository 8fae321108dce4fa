import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import { timeOfId } from '@tocsin/shared/platform/ids.ts';
import type { History } from '@tocsin/shared/operations/messages/history.ts';
import type { TopicFeeds } from './topic-feeds.ts';

/** The beginning of a topic. */
export const nilId = '00000000-0000-0000-0000-000000000000';

/** Whether the text is a position: a UUIDv7 or the nil UUID. */
export function isPositionId(text: string): boolean {
  return text === nilId || timeOfId(text) !== null;
}

export interface Position {
  /** Everything after this offset is unread. */
  readonly after: number;
  /** False if the message is unknown or expired, so that later messages may be missing too. */
  readonly isExact: boolean;
  /** The expiry of a found message. */
  readonly expiresAt: number | null;
}

/**
 * Returns where a reader continues after the message with the ID, a UUIDv7 or nil. For an unknown ID its time is used.
 */
export async function resolvePosition(
  history: History,
  topic: Pick<Topic, 'id' | 'partition'>,
  { messageId, now }: { messageId: string; now: number },
): Promise<Position> {
  if (messageId === nilId) return { after: -1, isExact: true, expiresAt: null };
  const message = await history.find(messageId.toLowerCase());
  if (message !== null && message.topicId === topic.id) {
    return { after: message.offset, isExact: message.expiresAt > now, expiresAt: message.expiresAt };
  }
  const { offset, settled } = await history.offsetAtTime(topic, timeOfId(messageId)!);
  return { after: offset === null ? settled : offset - 1, isExact: false, expiresAt: null };
}

/**
 * Like `resolvePosition`, for a stream: uses the topic's feed on this node if it knows the message. Otherwise notes the
 * place there immediately, even if the feed is still opening, so that streams that reconnect together do not all read
 * the store.
 */
export async function resolveStreamPosition(
  { history, feeds }: { history: History; feeds: Pick<TopicFeeds, 'peek'> },
  topic: Pick<Topic, 'id' | 'partition'>,
  of: { messageId: string; now: number },
): Promise<Position> {
  const messageId = of.messageId.toLowerCase();
  const known = feeds.peek(topic.id)?.placeOf(messageId);
  if (known !== undefined) return { after: known, isExact: true, expiresAt: null };
  const position = await resolvePosition(history, topic, of);
  const { after: offset, expiresAt } = position;
  if (expiresAt !== null) feeds.peek(topic.id)?.notePlace(messageId, { offset, expiresAt });
  return position;
}
