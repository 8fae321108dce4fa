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
const earliestHeader = 'X-Earliest-Id';

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
      schema: z.object({
        messages: z.array(messageSchema),
        topic: z.string(),
        count: z.int(),
        recovered: z
          .literal(false)
          .optional()
          .describe('Messages after `since` have expired. Absent if all of them can be read.'),
      }),
      description: 'The newest messages, or with `since` the first ones after it',
      headers: { [earliestHeader]: 'With `recovered`: the ID of the first message that can be read, if any.' },
    },
    load: loadTopic(deps.directory, 'read'),
    async handle(context, { loaded: topic, query }) {
      const since = query.since === undefined || query.since === '' ? undefined : parseSince(query.since, context.now);
      const start = since === undefined ? null : await startOf(deps, topic, { since, now: context.now });
      const readPage = () =>
        start === null ? deps.history.newest(topic, query.limit) : deps.history.after(topic, start.after, query.limit);
      let messages: readonly StoredMessage[] = await readPage();
      if (messages.length === 0 && query.wait > 0) {
        messages = await waitAsReader(deps, context, topic, { waitMs: query.wait * 1_000, read: readPage });
      }
      const view = await messageView(deps.directory, context.caller, topic);
      const isLossy = start !== null && (await hasLost(deps, topic, start));
      const [earliest] = isLossy ? await deps.history.after(topic, -1, 1) : [];
      return {
        status: 200,
        ...(earliest === undefined ? {} : { headers: { [earliestHeader]: earliest.id } }),
        body: {
          messages: messages.map((message) => toMessageJson(message, topic.name, view)),
          topic: topic.name,
          count: messages.length,
          ...(isLossy ? { recovered: false } : {}),
        },
      };
    },
  });
}

interface Start {
  /** Everything after this offset is unread. */
  readonly after: number;
  /** Where to look for messages that are gone; null if the start is a message that can be read, or the beginning. */
  readonly lostFrom: number | null;
}

async function startOf(
  { history }: Pick<ApiDeps, 'history'>,
  topic: Topic,
  { since, now }: { since: Since; now: number },
): Promise<Start> {
  switch (since.kind) {
    case 'all':
      return { after: -1, lostFrom: null };
    case 'id': {
      const { after, isExact, expiresAt } = await resolvePosition(history, topic, { messageId: since.id, now });
      if (isExact) return { after, lostFrom: null };
      // The offset of a removed message is unknown, and the first one that is not older follows it.
      return { after, lostFrom: expiresAt === null ? 0 : after + 1 };
    }
    case 'time': {
      const { offset } = await history.offsetAtTime(topic, since.time);
      const after = offset === null ? Number.MAX_SAFE_INTEGER : offset - 1;
      return { after, lostFrom: since.time <= topic.createdAt ? 0 : Math.min(after + 1, Number.MAX_SAFE_INTEGER) };
    }
  }
}

/** Whether messages between the start and the first record that can be read are gone. */
async function hasLost({ history }: Pick<ApiDeps, 'history'>, topic: Topic, start: Start): Promise<boolean> {
  if (start.lostFrom === null) return false;
  const [next] = await history.records(topic, Math.min(start.after + 1, Number.MAX_SAFE_INTEGER), 1);
  const before = next?.offset ?? Number.MAX_SAFE_INTEGER;
  return (await history.lastLost(topic.id, { from: start.lostFrom, before })) !== null;
}
