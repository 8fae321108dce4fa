import { contentMatcher, FilterSubject, type ContentFilter } from '@tocsin/shared/domain/messages/content-filter.ts';
import { allMessagesOf } from '@tocsin/shared/domain/messages/message-filter.ts';
import type { StoredMessage } from '@tocsin/shared/domain/messages/message.ts';
import { toIso } from '@tocsin/shared/domain/to-iso.ts';
import { continuingScan, type Scan } from '@tocsin/shared/operations/messages/scan-matches.ts';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import { messageSchema, toMessageJson } from '@tocsin/shared/wire/message.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { contentFields, requireOrdered, toContentFilter } from '../../http/filtering/filter-fields.ts';
import { loadTopic, messageView } from '../../http/load-topic.ts';
import { queryBoolean, queryInteger } from '../../http/paging.ts';
import { route, type Route } from '../../http/route.ts';
import { waitAsReader } from '../../access/authorize-reader.ts';
import { nilId, resolvePosition } from '../../live/resolve-position.ts';
import { parseSince, type Since } from './parse-since.ts';

const waitSecondsMax = 60;
const earliestHeader = 'X-Earliest-Id';

const historyQuery = z
  .object({
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
    ...contentFields,
  })
  .superRefine(requireOrdered);

/** `GET /{topic}/json`: history, oldest first. */
export function getHistory(
  deps: Pick<
    ApiDeps,
    'accessTokens' | 'clock' | 'config' | 'directory' | 'engine' | 'feeds' | 'history' | 'streams' | 'waits'
  >,
): Route {
  return route({
    id: 'getHistory',
    method: 'GET',
    path: '/{topic}/json',
    summary: 'Read the messages of a topic, oldest first',
    audience: 'anyone',
    scope: 'subscribe',
    isTopicRoute: true,
    query: historyQuery,
    success: {
      status: 200,
      schema: z.object({
        messages: z.array(messageSchema),
        topic: z.string(),
        count: z.int(),
        next_since: z
          .string()
          .optional()
          .describe(
            'With a filter: the `since` that continues after the last message read, also if the filter left it out.',
          ),
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
      const filter = toContentFilter(query);
      const page = { topic, filter, limit: query.limit };
      const readPage =
        start === null ? () => readNewest(deps, page) : messagesFrom(deps, { ...page, from: start.after + 1 });
      const first = await readPage();
      let read = first;
      if (!isEnough(read) && query.wait > 0) {
        // None of the present messages match, so wait for later ones.
        const from = (first.last?.offset ?? -1) + 1;
        const readOn = start === null && filter !== null ? messagesFrom(deps, { ...page, from }) : readPage;
        read = await waitAsReader(deps, context, topic, { waitMs: query.wait * 1_000, read: readOn, isEnough });
      }
      const messages = read.found;
      const last = read.last ?? first.last;
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
          ...(filter === null ? {} : { next_since: last?.id ?? sinceOf(since) }),
          ...(isLossy ? { recovered: false } : {}),
        },
      };
    },
  });
}

interface Page {
  readonly topic: Topic;
  readonly filter: ContentFilter | null;
  readonly limit: number;
}

/** The messages of a page, and the last message that was read for it. */
type PageRead = Pick<Scan<StoredMessage>, 'found' | 'last' | 'isAtEnd'>;

const isEnough = ({ found, isAtEnd }: PageRead): boolean => found.length > 0 || !isAtEnd;

/** Returns the newest matching messages. */
async function readNewest(
  { engine, history, clock }: Pick<ApiDeps, 'clock' | 'engine' | 'history'>,
  { topic, filter, limit }: Page,
): Promise<PageRead> {
  const newest = await history.newest(topic, filter === null ? limit : 1);
  const last = newest.at(-1) ?? null;
  if (filter === null || last === null) return { found: newest, last, isAtEnd: true };
  const wanted = allMessagesOf([topic.id], { ...filter, now: clock() });
  const { messages } = await engine.messages.search(wanted, { limit, offset: 0 });
  // Later messages are read from `last` on.
  return { found: messages.filter(({ offset }) => offset <= last.offset).reverse(), last, isAtEnd: true };
}

/** Reads the first matching messages from the offset; each call continues. */
function messagesFrom(
  { history }: Pick<ApiDeps, 'history'>,
  { topic, filter, limit, from }: Page & { readonly from: number },
): () => Promise<PageRead> {
  const matchesContent = filter === null ? null : contentMatcher(filter);
  const matches =
    matchesContent === null ? null : (message: StoredMessage) => matchesContent(new FilterSubject(message));
  const scanOn = continuingScan<StoredMessage>({ from, limit, matches });
  return () => scanOn((first, count) => history.after(topic, first - 1, count));
}

/** The `since` of a reader that has read nothing. */
function sinceOf(since: Since | undefined): string {
  if (since?.kind === 'time') return toIso(since.time);
  return since?.kind === 'id' ? since.id : nilId;
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
