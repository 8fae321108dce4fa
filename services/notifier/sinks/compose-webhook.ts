import { CloudEvent, HTTP } from 'cloudevents';
import { Webhook } from 'standardwebhooks';
import type { Sink } from '@tocsin/shared/domain/sinks/sink.ts';
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
}

/**
 * Returns the request of a webhook: a CloudEvent in the structured JSON format, signed as Standard Webhooks defines it.
 * `now` is the time of the attempt.
 */
export function composeWebhook(
  { url, headers, secret }: Pick<Sink, 'url' | 'headers' | 'secret'>,
  { time, ...event }: SinkEvent,
  now: number,
): SinkRequest {
  const { headers: ofEvent, body } = HTTP.structured(
    new CloudEvent({ ...event, time: new Date(time).toISOString(), datacontenttype: 'application/json' }),
  );
  const text = body as string;
  return {
    url,
    headers: {
      'user-agent': 'Tocsin',
      ...lowerCased(headers),
      ...(ofEvent as Record<string, string>),
      'webhook-id': event.id,
      'webhook-timestamp': String(Math.floor(now / 1_000)),
      'webhook-signature': new Webhook(secret).sign(event.id, new Date(now), text),
    },
    body: text,
  };
}

const lowerCased = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
