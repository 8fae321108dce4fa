import type { Topic } from '@tocsin/shared/domain/topic.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { loadTopic } from '../../http/load-topic.ts';
import { route, type RequestContext, type Route } from '../../http/route.ts';
import { openStream } from '../../live/open-stream.ts';
import { sseSink } from '../../live/sse-sink.ts';
import type { StreamSink } from '../../live/stream-sink.ts';
import { judgeStream } from './judge-stream.ts';
import { streamPosition } from './stream-position.ts';

/** `GET /{topic}/sse`: a topic's messages as Server-Sent Events. */
export function streamTopicBySse(deps: ApiDeps): Route {
  return route({
    ...streamRoute(deps),
    id: 'streamTopicBySse',
    path: '/{topic}/sse',
    summary: 'Stream a topic as Server-Sent Events',
    success: {
      status: 200, schema: z.string(), contentType: 'text/event-stream',
      description: 'An event stream: ready, message, message_edited, message_deleted, ping',
    },
    async handle(context, { loaded: topic }) {
      if (context.request.method === 'HEAD') return { status: 200, headers: { 'Content-Type': 'text/event-stream; charset=utf-8' } };
      await streamTopic(deps, context, { topic, openSink: () => sseSink(context.response) });
      return null;
    },
  });
}

/** What the two transports of a topic's stream have in common. */
export function streamRoute(deps: ApiDeps) {
  return {
    method: 'GET' as const,
    audience: 'anyone' as const,
    scope: 'subscribe' as const,
    isTopicRoute: true,
    isStream: true,
    load: loadTopic(deps.directory, 'read'),
  };
}

/** Opens the stream; throws what refuses it before anything is sent. */
export async function streamTopic(deps: ApiDeps, context: RequestContext, of: { topic: Topic; openSink: () => StreamSink }): Promise<void> {
  const { topic, openSink } = of;
  const { position, positionId, recovered } = await streamPosition(deps, topic, context);
  await openStream(deps, {
    caller: context.caller,
    topics: [{ topic, position, positionId }],
    isComposite: false,
    openSink,
    ready: { topic: topic.name, message: `Connected to ${topic.name}`, ...(recovered === undefined ? {} : { recovered }) },
    judge: judgeStream(deps, context, [topic]),
  });
}
