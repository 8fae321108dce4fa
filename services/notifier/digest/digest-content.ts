import type { StoredMessage } from '@tocsin/shared/domain/messages/message.ts';
import { toIso } from '@tocsin/shared/domain/to-iso.ts';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import type { PushContent } from '../providers/push-gateway.ts';
import { cutText, type PayloadOptions } from '../sending/push-payload.ts';

/** Messages with a line in the text. */
const linesMax = 5;
/** Characters of a line after the topic's name. */
const lineMax = 100;
/** Topics in the data. */
const topicsMax = 10;

export interface DigestPart {
  readonly message: Pick<StoredMessage, 'title' | 'message'>;
  readonly topic: Pick<Topic, 'id' | 'name'>;
}

/** Returns the content of a digest with these messages, newest first: their number, topics and newest titles. */
export function digestContent(
  parts: readonly DigestPart[],
  { bytesMax, now }: Omit<PayloadOptions, 'event'>,
): PushContent {
  const byTopic = [...Map.groupBy(parts, ({ topic }) => topic.id).values()];
  const many = parts.length === 1 ? '1 message' : `${parts.length} messages`;
  const isOneTopic = byTopic.length === 1;
  const content: PushContent = {
    title: isOneTopic ? `${many} in ${parts[0]!.topic.name}` : `${many} in ${byTopic.length} topics`,
    body: '',
    category: null,
    data: {
      event: 'digest',
      count: parts.length,
      topic_count: byTopic.length,
      topics: byTopic
        .slice(0, topicsMax)
        .map((same) => ({ topic: same[0]!.topic.name, topic_id: same[0]!.topic.id, count: same.length })),
      sent_at: toIso(now),
    },
  };
  const lines = parts
    .slice(0, linesMax)
    .map(({ message, topic }) => `${isOneTopic ? '' : `${topic.name}: `}${lineOf(message)}`);
  return { ...content, body: cutText(lines.join('\n'), bytesMax - Buffer.byteLength(JSON.stringify(content))) };
}

/** The title, or the beginning of the text, on one line. */
function lineOf({ title, message }: DigestPart['message']): string {
  const line = (title ?? message).replaceAll(/\s+/g, ' ').trim();
  const characters = [...line];
  return characters.length > lineMax ? `${characters.slice(0, lineMax - 1).join('')}…` : line;
}
