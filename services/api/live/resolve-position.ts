import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import { timeOfId } from '@tocsin/shared/platform/ids.ts';
import type { History } from '@tocsin/shared/operations/messages/history.ts';
import type { TopicFeeds } from './topic-feeds.ts';

/** Stands for the beginning of a topic. */
export const nilId = '00000000-0000-0000-0000-000000000000';

/** Whether the text can be a position: a UUIDv7, or the nil UUID. */
export function isPositionId(text: string): boolean {
  return text === nilId || timeOfId(text) !== null;
}

export interface Position {
  /** Everything behind this position is still to be read. */
  readonly after: number;
  /** False when the message is unknown or has expired, so that what came after it may be gone, too. */
  readonly isExact: boolean;
  /** Of a message that was found, when it expires. */
  readonly expiresAt: number | null;
}

/** Where a reader goes on that has seen the message with the id, a UUIDv7 or nil. The time inside the id of an unknown one stands in for it. */
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

/** As `resolvePosition`, for a stream: from what the topic's feed on this node knows of the message, if it does. */
export async function resolveStreamPosition(
  { history, feeds }: { history: History; feeds: Pick<TopicFeeds, 'peek'> },
  topic: Pick<Topic, 'id' | 'partition'>,
  of: { messageId: string; now: number },
): Promise<Position> {
  const known = feeds.peek(topic.id)?.placeOf(of.messageId.toLowerCase());
  return known === undefined ? resolvePosition(history, topic, of) : { after: known, isExact: true, expiresAt: null };
}
