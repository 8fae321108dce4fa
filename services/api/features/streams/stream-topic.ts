import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import { z } from 'zod';
import { readCredential } from '../../http/authenticate.ts';
import { contentFields, requireOrdered, toContentFilter } from '../../http/filtering/filter-fields.ts';
import { loadTopic, messageView } from '../../http/load-topic.ts';
import { type Route } from '../../http/route.ts';
import { openStream } from '../../live/open-stream.ts';
import { resolveStreamPosition } from '../../live/resolve-position.ts';
import { authorizeStream } from '../../access/authorize-stream.ts';
import { givenPosition, parsePositionId, sinceIdField } from './given-position.ts';
import { sseRoute } from './sse-route.ts';
import { credentialSources, type StreamDeps, type StreamKind } from './stream-kind.ts';
import { websocketRoute } from './websocket-route.ts';

const query = z.object({ since_id: sinceIdField, ...contentFields }).superRefine(requireOrdered);

/** The stream of one topic. */
export function topicStream(deps: StreamDeps): StreamKind<Topic, typeof query> {
  return {
    route: {
      audience: 'anyone',
      scope: 'subscribe',
      isTopicRoute: true,
      isStream: true,
      load: loadTopic(deps.directory, 'read'),
      query,
    },
    async open(context, { loaded: topic, query }, openSink) {
      const credential = await readCredential(deps, credentialSources(context, { isTopicRoute: true }));
      const given = givenPosition(context, query.since_id, parsePositionId);
      const id = given === 'malformed' ? undefined : given;
      const position =
        id === undefined ? null : await resolveStreamPosition(deps, topic, { messageId: id, now: context.now });
      const view = await messageView(deps.directory, context.caller, topic);
      const managedTopics = new Set(view === 'manager' ? [topic.id] : []);
      await openStream(deps, {
        caller: context.caller,
        credential,
        topics: [{ topic, position, positionId: id ?? null }],
        managedTopics,
        isComposite: false,
        filter: toContentFilter(query),
        openSink,
        ready: {
          topic: topic.name,
          message: `Connected to ${topic.name}`,
          ...(given === undefined ? {} : { recovered: position?.isExact ?? false }),
        },
        authorize: authorizeStream(deps, { caller: context.caller, credential, topics: [topic], managedTopics }),
      });
    },
  };
}

/** `GET /{topic}/sse` */
export function streamTopicBySse(deps: StreamDeps): Route {
  return sseRoute(topicStream(deps), {
    id: 'streamTopicBySse',
    path: '/{topic}/sse',
    summary: 'Stream a topic as Server-Sent Events',
  });
}

/** `GET /{topic}/ws` without an upgrade; `upgrade.ts` serves upgrades. */
export function streamTopicByWebSocket(deps: StreamDeps): Route {
  return websocketRoute(topicStream(deps), {
    id: 'streamTopicByWebSocket',
    path: '/{topic}/ws',
    summary: 'Stream a topic over a WebSocket',
  });
}
