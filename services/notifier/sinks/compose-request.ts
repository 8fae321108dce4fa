import { CloudEvent, HTTP } from 'cloudevents';
import { Webhook } from 'standardwebhooks';
import type { Sink } from '@tocsin/shared/domain/sinks/sink.ts';
import { composeChat, type ChatKind, type ChatMessage } from './compose-chat.ts';
import type { SinkRequest } from './sink-client.ts';

/** What a sink tells its receiver: a record of the topic's log, or a test. */
export interface SinkEvent {
  /** The same for each attempt. */
  readonly id: string;
  readonly type: string;
  readonly source: string;
  /** The name of the topic. */
  readonly subject: string;
  /** Milliseconds since the epoch. */
  readonly time: number;
  readonly data: object;
  /** What a chat shows. */
  readonly chat: ChatMessage;
}

/** Returns the request of an attempt at this time, in milliseconds since the epoch. */
export function composeRequest(
  { kind, url, headers, secret }: Pick<Sink, 'kind' | 'url' | 'headers' | 'secret'>,
  { chat, ...event }: SinkEvent,
  now: number,
): SinkRequest {
  const { headers: own, body } = kind === 'webhook' ? webhook(event, { secret, now }) : chatWebhook(kind, chat);
  return { url, headers: { 'user-agent': 'Tocsin', ...lowerCased(headers), ...own }, body };
}

/** A CloudEvent in the structured JSON format, signed as Standard Webhooks defines it. */
function webhook(
  { time, ...event }: Omit<SinkEvent, 'chat'>,
  { secret, now }: Pick<Sink, 'secret'> & { readonly now: number },
): Pick<SinkRequest, 'headers' | 'body'> {
  const { headers, body } = HTTP.structured(
    new CloudEvent({ ...event, time: new Date(time).toISOString(), datacontenttype: 'application/json' }),
  );
  const text = body as string;
  return {
    headers: {
      ...(headers as Record<string, string>),
      'webhook-id': event.id,
      'webhook-timestamp': String(Math.floor(now / 1_000)),
      'webhook-signature': new Webhook(secret).sign(event.id, new Date(now), text),
    },
    body: text,
  };
}

const chatWebhook = (kind: ChatKind, message: ChatMessage): Pick<SinkRequest, 'headers' | 'body'> => ({
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(composeChat(kind, message)),
});

const lowerCased = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
