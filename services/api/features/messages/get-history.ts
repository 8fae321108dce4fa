import type { StoredMessage } from '@tocsin/shared/domain/messages/message.ts';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import { messageSchema, toMessageJson } from '@tocsin/shared/wire/message.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { loadTopic, messageView } from '../../http/load-topic.ts';
import { queryBoolean, queryInteger } from '../../http/paging.ts';
import { route, type Route } from '../../http/route.ts';
import { waitAsReader } from '../../access/authorize-reader.ts';
import { resolvePosition } from '../../live/resolve-position.ts';
import { parseSince, type Since } from './parse-since.ts';

const waitSecondsMax = 60;

/** `GET /{topic}/json`: history, oldest first. */
export function getHistory(
  deps: Pick<ApiDeps, 'accessTokens' | 'clock' | 'config' | 'directory' | 'feeds' | 'history' | 'streams' | 'waits'>,
): Route {
  return route({
    id: 'getHistory',
    method: 'GET',
    path: '/{topic}/json',
    summary: 'Read the messages of a topic, oldest first',
    audience: 'anyone',
    scope: 'subscribe',
    isTopicRoute: true,
    query: z.object({
      since: z
        .string()
        .optional()
        .describe(
          'The start: a message ID (excluded), an ISO 8601 time, Unix seconds, a duration before now (`30s`, `10m`, `2h`, `7d`), or `all`. Without it the newest `limit` messages.',
        ),
      limit: queryInteger({ min: 1, max: 100 }).default(50),
      poll: queryBoolean.optional().describe('All values have the same effect: the response is immediate.'),
      wait: queryInteger({ min: 0, max: waitSecondsMax })
        .default(0)
        .describe('Seconds to hold an empty response until a message arrives.'),
    }),
    success: {
      status: 200,
      schema: z.object({ messages: z.array(messageSchema), topic: z.string(), count: z.int() }),
      description: 'The newest messages, or with `since` the first ones after it',
    },
    load: loadTopic(deps.directory, 'read'),
    async handle(context, { loaded: topic, query }) {
      const since = query.since === undefined || query.since === '' ? undefined : parseSince(query.since, context.now);
      const readPage = () => read(deps, topic, { since, limit: query.limit, now: context.now });
      let messages: readonly StoredMessage[] = await readPage();
      if (messages.length === 0 && query.wait > 0) {
        messages = await waitAsReader(deps, context, topic, { waitMs: query.wait * 1_000, read: readPage });
      }
      const view = await messageView(deps.directory, context.caller, topic);
      return {
        status: 200,
        body: {
          messages: messages.map((message) => toMessageJson(message, topic.name, view)),
          topic: topic.name,
          count: messages.length,
        },
      };
    },
  });
}

async function read(
  deps: Pick<ApiDeps, 'history'>,
  topic: Topic,
  { since, limit, now }: { since: Since | undefined; limit: number; now: number },
): Promise<StoredMessage[]> {
  if (since === undefined) return deps.history.newest(topic, limit);
  return deps.history.after(topic, await positionBefore(deps, topic, { since, now }), limit);
}

async function positionBefore(
  deps: Pick<ApiDeps, 'history'>,
  topic: Topic,
  { since, now }: { since: Since; now: number },
): Promise<number> {
  switch (since.kind) {
    case 'all':
      return -1;
    case 'id':
      return (await resolvePosition(deps.history, topic, { messageId: since.id, now })).after;
    case 'time': {
      const { offset } = await deps.history.offsetAtTime(topic, since.time);
      return offset === null ? Number.MAX_SAFE_INTEGER : offset - 1;
    }
  }
}
