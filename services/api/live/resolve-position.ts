import type { Topic } from '@tocsin/shared/domain/topic.ts';
import { timeOfId } from '@tocsin/shared/platform/ids.ts';
import type { History } from '@tocsin/shared/stores/history.ts';

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
}

/** Where a reader goes on that has seen the message with the id, a UUIDv7 or nil. The time inside the id of an unknown one stands in for it. */
export async function resolvePosition(
  history: History, topic: Pick<Topic, 'id' | 'partition'>, { messageId, now }: { messageId: string; now: number },
): Promise<Position> {
  if (messageId === nilId) return { after: -1, isExact: true };
  const message = await history.find(messageId.toLowerCase());
  if (message !== null && message.topicId === topic.id) {
    return { after: message.offset, isExact: message.expiresAt > now };
  }
  const { offset, settled } = await history.offsetAtTime(topic, timeOfId(messageId)!);
  return { after: offset === null ? settled : offset - 1, isExact: false };
}
