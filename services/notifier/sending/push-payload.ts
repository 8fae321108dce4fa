import { ackPurpose, ackText } from '@tocsin/shared/domain/escalation/ack-token.ts';
import type { Acknowledgement } from '@tocsin/shared/domain/messages/message-extras.ts';
import type { Message, StoredMessage } from '@tocsin/shared/domain/messages/message.ts';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import { signText } from '@tocsin/shared/platform/secrets.ts';
import type { PushContent, PushEvent } from '../providers/push-gateway.ts';

/** A quarter of the providers' limit: twenty tags of 64 emoji alone would exceed it twice. */
const tagsBytesMax = 1_024;
const ellipsis = '…';

/**
 * Returns the content of a message's push: its title (or the topic's name), as much of its text as fits, and the IDs to
 * fetch the rest. `bytesMax` limits the content as JSON; a cut text ends in `…` and is cut between code points.
 */
export function pushContent(
  message: Message,
  topic: Pick<Topic, 'id' | 'name'>,
  { bytesMax, event }: { bytesMax: number; event?: PushEvent },
): PushContent {
  const content = {
    title: message.title ?? topic.name,
    body: '',
    data: {
      message_id: message.id,
      topic: topic.name,
      topic_id: topic.id,
      priority: message.priority,
      tags: leadingTags(message.tags),
      ...(event === undefined ? {} : { event }),
    },
  };
  const bytesLeft = bytesMax - Buffer.byteLength(JSON.stringify(content));
  return { ...content, body: cutText(message.message, bytesLeft) };
}

/**
 * Returns a function from a device's ID to the content for it: with `ackKey`, each device has its own link to
 * acknowledge the message.
 */
export function contentMaker(
  baseUrl: string,
  of: { message: Message; topic: Pick<Topic, 'id' | 'name'>; ackKey: string | null; bytesMax: number },
): (deviceId: string) => PushContent {
  const { message, topic, ackKey } = of;
  const linkTo = (deviceId: string): string => {
    const text = ackText({ messageId: message.id, deviceId });
    return `${baseUrl}/ack/${text}.${signText(ackKey!, ackPurpose, text)}`;
  };
  // Links have the same length.
  const linkBytes = ackKey === null ? 0 : Buffer.byteLength(JSON.stringify({ ack_url: linkTo(message.id) }));
  const content = pushContent(message, topic, { bytesMax: of.bytesMax - linkBytes });
  return (deviceId) =>
    ackKey === null ? content : { ...content, data: { ...content.data, ack_url: linkTo(deviceId) } };
}

/** Returns the content that replaces the push of an edited or deleted message. */
export function replacementContent(
  message: StoredMessage,
  topic: Pick<Topic, 'id' | 'name'>,
  bytesMax: number,
): PushContent {
  if (!message.isDeleted) return pushContent(message, topic, { bytesMax, event: 'message_edited' });
  const shown = { ...message, title: null, message: 'This message was deleted', tags: [] };
  return pushContent(shown, topic, { bytesMax, event: 'message_deleted' });
}

/** Returns the content that replaces the push of an acknowledged message: who took it, and the text. */
export function acknowledgedContent(
  message: StoredMessage,
  { topic, acknowledgement }: { topic: Pick<Topic, 'id' | 'name'>; acknowledgement: Acknowledgement },
  bytesMax: number,
): PushContent {
  const who = acknowledgement.by.name ?? acknowledgement.by.kind;
  const note = acknowledgement.note === null ? '' : `: ${acknowledgement.note}`;
  const shown = { ...message, message: `Acknowledged by ${who}${note}\n${message.message}` };
  return pushContent(shown, topic, { bytesMax, event: 'message_acknowledged' });
}

function leadingTags(tags: readonly string[]): string[] {
  const kept: string[] = [];
  let bytes = 0;
  for (const tag of tags) {
    bytes += Buffer.byteLength(JSON.stringify(tag)) + 1;
    if (bytes > tagsBytesMax) break;
    kept.push(tag);
  }
  return kept;
}

/**
 * Returns the text, or as many of its first code points as fit with `…` into this many bytes of JSON (without quotes).
 */
export function cutText(text: string, bytesMax: number): string {
  const bytesForText = bytesMax - Buffer.byteLength(ellipsis);
  let bytes = 0;
  let end = 0; // the cut position
  let index = 0;
  for (const point of text) {
    bytes += jsonBytes(point);
    if (bytes > bytesMax) return text.slice(0, end) + (bytesForText >= 0 ? ellipsis : '');
    index += point.length;
    if (bytes <= bytesForText) end = index;
  }
  return text;
}

/** Returns the size of a code point in JSON; quotes, control characters and lone surrogates are escaped. */
function jsonBytes(point: string): number {
  return Buffer.byteLength(JSON.stringify(point)) - 2;
}
