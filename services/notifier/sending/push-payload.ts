import { ackPurpose, ackText } from '@tocsin/shared/domain/escalation/ack-token.ts';
import { noExtras, type Acknowledgement } from '@tocsin/shared/domain/messages/message-extras.ts';
import type { Message, StoredMessage } from '@tocsin/shared/domain/messages/message.ts';
import { toIso } from '@tocsin/shared/domain/to-iso.ts';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import { signText } from '@tocsin/shared/platform/secrets.ts';
import type { MessageData, PushCategory, PushContent, PushEvent } from '../providers/push-gateway.ts';

/** A quarter of the providers' limit: twenty tags of 64 emoji alone would exceed it twice. */
const tagsBytesMax = 1_024;
/** What a link or actions leave of a longer text. */
const textBytesMin = 512;
const ellipsis = '…';

export interface PayloadOptions {
  /** The maximum size of the content as JSON. */
  readonly bytesMax: number;
  readonly now: number;
  readonly event?: PushEvent;
}

/**
 * Returns the content of a message's push: its title (or the topic's name), its data, and as much of its text as fits;
 * a cut text ends in `…` and is cut between code points. Of the data, first `actions` and then `click` are absent if
 * they do not fit; the app then fetches the message.
 */
export function pushContent(
  message: StoredMessage,
  topic: Pick<Topic, 'id' | 'name'>,
  { bytesMax, now, event }: PayloadOptions,
): PushContent {
  const textBytes = Math.min(jsonBytes(message.message), textBytesMin);
  const withData = (part: Partial<MessageData>): PushContent => ({
    title: message.title ?? topic.name,
    body: '',
    category: categoryOf(message),
    data: {
      topic: topic.name,
      message_id: message.id,
      offset: message.offset,
      priority: message.priority,
      ...part,
      requires_ack: message.requiresAck,
      sent_at: toIso(now),
      topic_id: topic.id,
      tags: leadingTags(message.tags),
      ...(event === undefined ? {} : { event }),
    },
  });
  const { click, actions } = message;
  const bytesLeft = (content: PushContent): number => bytesMax - Buffer.byteLength(JSON.stringify(content));
  const [content] = [{ click, actions }, { click }]
    .map(withData)
    .filter((candidate) => bytesLeft(candidate) >= textBytes);
  const fitting = content ?? withData({});
  return { ...fitting, body: cutText(message.message, bytesLeft(fitting)) };
}

/** The buttons that the app shows: a platform offers them by category. */
function categoryOf({ actions, requiresAck, acknowledgement }: Message): PushCategory | null {
  if (acknowledgement === null && (requiresAck || actions.some(({ action }) => action === 'ack'))) return 'tocsin.ack';
  return actions.some(({ action }) => action !== 'ack') ? 'tocsin.actions' : null;
}

/**
 * Returns a function from a device's ID to the content for it: with `ackKey`, each device has its own link to
 * acknowledge the message.
 */
export function contentMaker(
  baseUrl: string,
  of: { message: StoredMessage; topic: Pick<Topic, 'id' | 'name'>; ackKey: string | null } & PayloadOptions,
): (deviceId: string) => PushContent {
  const { message, topic, ackKey, ...options } = of;
  const linkTo = (deviceId: string): string => {
    const text = ackText({ messageId: message.id, deviceId });
    return `${baseUrl}/ack/${text}.${signText(ackKey!, ackPurpose, text)}`;
  };
  // Links have the same length.
  const linkBytes = ackKey === null ? 0 : Buffer.byteLength(JSON.stringify({ ack_url: linkTo(message.id) }));
  const content = pushContent(message, topic, { ...options, bytesMax: options.bytesMax - linkBytes });
  return (deviceId) =>
    ackKey === null ? content : { ...content, data: { ...content.data, ack_url: linkTo(deviceId) } };
}

/** Returns the content that replaces the push of an edited or deleted message. */
export function replacementContent(
  message: StoredMessage,
  topic: Pick<Topic, 'id' | 'name'>,
  options: Omit<PayloadOptions, 'event'>,
): PushContent {
  if (!message.isDeleted) {
    const { acknowledgement } = message;
    const shown = acknowledgement === null ? message : withTaker(message, acknowledgement);
    return pushContent(shown, topic, { ...options, event: 'message_edited' });
  }
  const shown = { ...message, ...noExtras, title: null, message: 'This message was deleted', tags: [] };
  return pushContent(shown, topic, { ...options, event: 'message_deleted' });
}

/** Returns the content that replaces the push of an acknowledged message: who took it, and the text. */
export function acknowledgedContent(
  message: StoredMessage,
  { topic, acknowledgement }: { topic: Pick<Topic, 'id' | 'name'>; acknowledgement: Acknowledgement },
  options: Omit<PayloadOptions, 'event'>,
): PushContent {
  return pushContent(withTaker(message, acknowledgement), topic, { ...options, event: 'message_acknowledged' });
}

function withTaker(message: StoredMessage, { by, note }: Acknowledgement): StoredMessage {
  const who = by.name ?? by.kind;
  return { ...message, message: `Acknowledged by ${who}${note === null ? '' : `: ${note}`}\n${message.message}` };
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

/** Returns the size of a text in JSON; quotes, control characters and lone surrogates are escaped. */
function jsonBytes(text: string): number {
  return Buffer.byteLength(JSON.stringify(text)) - 2;
}
