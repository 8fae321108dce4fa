import type { ApiDeps } from './api-deps.ts';
import { getHistory } from './features/messages/get-history.ts';
import { getLog } from './features/messages/get-log.ts';
import { publishJson } from './features/publishing/publish-json.ts';
import type { PublishDeps } from './features/publishing/publish-message.ts';
import { publishToTopic } from './features/publishing/publish-to-topic.ts';
import { inlineStore } from './features/publishing/store-inline.ts';
import { streamTopicBySse } from './features/streams/stream-topic.ts';
import { websocketOnly } from './features/streams/websocket-only.ts';
import type { Route } from './http/route.ts';

/** All operations of the interface, in its order. */
export function routes(deps: ApiDeps): Route[] {
  const publishDeps: PublishDeps = { ...deps, inlineStore: inlineStore({ messages: deps.engine.messages, clock: deps.clock, log: deps.log }) };
  return [
    // Publishing
    publishToTopic(publishDeps, 'POST'),
    publishToTopic(publishDeps, 'PUT'),
    publishJson(publishDeps, 'POST'),
    publishJson(publishDeps, 'PUT'),
    // Messages
    getHistory(deps),
    getLog(deps),
    // Real time
    streamTopicBySse(deps),
    websocketOnly(deps),
  ];
}
