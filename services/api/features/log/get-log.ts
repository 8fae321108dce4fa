import type { Caller } from '@tocsin/shared/domain/accounts/caller.ts';
import { AppError } from '@tocsin/shared/domain/errors.ts';
import { parseTime } from '@tocsin/shared/domain/parse-time.ts';
import { consumerHorizon } from '@tocsin/shared/operations/retention/consumer-horizon.ts';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import type { TopicRecord } from '@tocsin/shared/ports/messages/message-reads.ts';
import { FilterSubject, recordMatcher } from '@tocsin/shared/domain/messages/content-filter.ts';
import { continuingScan, type Scan } from '@tocsin/shared/operations/messages/scan-matches.ts';
import { topicRecordSchema, toTopicRecordJson } from '@tocsin/shared/wire/topic-record.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { contentFields, requireOrdered, toContentFilter } from '../../http/filtering/filter-fields.ts';
import { loadTopic, messageView } from '../../http/load-topic.ts';
import { queryBoolean, queryInteger } from '../../http/paging.ts';
import { route, type Reply, type RequestContext, type Route } from '../../http/route.ts';
import { authorizeReader, waitAsReader } from '../../access/authorize-reader.ts';
import { ndjsonHeaders, ndjsonType } from '../../live/ndjson-sink.ts';
import { linesPerRead, streamLog } from '../../live/stream-log.ts';
import { loadConsumer } from './consumer-owner.ts';
import { gapOf, gapSchema, logBounds } from './log-bounds.ts';
import { prefersNdjson } from './prefers-ndjson.ts';

const waitSecondsMax = 60;
const pageDefault = 100;
const pageMax = 1_000;

const logQuery = z
  .object({
    from_offset: queryInteger({ min: 0, max: Number.MAX_SAFE_INTEGER }).optional(),
    from_time: z.string().optional(),
    consumer: z.string().optional(),
    limit: queryInteger({ min: 1, max: Number.MAX_SAFE_INTEGER })
      .optional()
      .describe(
        `The number of records; for JSON ${pageDefault} by default and at most ${pageMax}, for NDJSON all by default.`,
      ),
    wait: queryInteger({ min: 0, max: waitSecondsMax }).default(0).describe('Seconds to wait for the first record.'),
    follow: queryBoolean
      .default(false)
      .describe('NDJSON only: continue with new records instead of ending at the head.'),
    ...contentFields,
  })
  .superRefine(requireOrdered);

const logPageSchema = z.object({
  topic: z.string(),
  records: z.array(topicRecordSchema),
  next_offset: z.int().meta({
    description:
      'Where to continue: after the last record read, also if the filter left it out. Below `head`, more may follow, even if `records` is empty.',
  }),
  earliest_offset: z
    .int()
    .meta({ description: 'The offset of the first record that can be read; `head` without one.' }),
  head: z.int().meta({ description: 'One more than the last offset of the topic.' }),
  gap: gapSchema
    .nullable()
    .meta({ description: 'The records between the start and the first record that existed and are gone.' }),
});

/** `GET /api/topics/{name}/log`: replays a topic's records from an offset, a time or a consumer, as JSON or NDJSON. */
export function getLog(
  deps: Pick<
    ApiDeps,
    | 'accessTokens'
    | 'clock'
    | 'config'
    | 'directory'
    | 'engine'
    | 'feeds'
    | 'history'
    | 'log'
    | 'makeId'
    | 'streams'
    | 'waits'
  >,
): Route {
  return route({
    id: 'getLog',
    method: 'GET',
    path: '/api/topics/{name}/log',
    summary: 'Replay the records of a topic from an offset, a time or a consumer',
    audience: 'anyone',
    scope: 'subscribe',
    isTopicRoute: true,
    query: logQuery,
    success: {
      status: 200,
      schema: logPageSchema,
      description:
        'Records by offset and the offset of the next page; as NDJSON one record per line, a line of type `gap` where records are gone, and with a filter lines of type `position`',
      also: { contentType: ndjsonType, schema: z.string() },
    },
    load: loadTopic(deps.directory, 'read', 'name'),
    async handle(context, { loaded: topic, query }) {
      const isNdjson = prefersNdjson(context.request.headers.accept);
      requireFormOf(query, isNdjson);
      const { from, horizon } = await startOf(deps, context.caller, topic, query);
      const asked = { topic, from, horizon, wait: query.wait, matches: matcherOf(query) };
      if (!isNdjson) return replyWithPage(deps, context, { ...asked, limit: query.limit ?? pageDefault });
      if (context.request.method === 'HEAD') return { status: 200, headers: ndjsonHeaders };
      await answerWithLines(deps, context, { ...asked, limit: query.limit ?? Infinity, follow: query.follow });
      return null;
    },
  });
}

/** Throws 422 for parameters that the requested form does not support. */
function requireFormOf(query: { limit?: number | undefined; follow: boolean }, isNdjson: boolean): void {
  if (isNdjson) return;
  if (query.limit !== undefined && query.limit > pageMax)
    throw new AppError('unprocessable', `limit: must be a whole number from 1 to ${pageMax}`);
  if (query.follow) throw new AppError('unprocessable', `follow: needs Accept: ${ndjsonType}`);
}

interface Asked extends LogStart {
  readonly topic: Topic;
  readonly limit: number;
  /** Seconds. */
  readonly wait: number;
  /** Null without a filter. */
  readonly matches: ((record: TopicRecord) => boolean) | null;
}

function matcherOf(query: Parameters<typeof toContentFilter>[0]): Asked['matches'] {
  const filter = toContentFilter(query);
  if (filter === null) return null;
  const matches = recordMatcher(filter);
  return ({ type, message }) => matches(type, new FilterSubject(message));
}

async function replyWithPage(
  deps: Pick<ApiDeps, 'accessTokens' | 'clock' | 'config' | 'directory' | 'feeds' | 'history' | 'streams' | 'waits'>,
  context: RequestContext,
  asked: Asked,
): Promise<Reply> {
  const { topic, from, horizon } = asked;
  const { found, next, first, last } = await firstScan(deps, context, asked);
  const now = horizon?.() ?? null;
  const view = await messageView(deps.directory, context.caller, topic);
  return {
    status: 200,
    body: {
      topic: topic.name,
      records: found.map((record) => toTopicRecordJson(record, topic.name, view)),
      next_offset: next,
      ...(await logBounds(deps.history, { topic, from, now, first, last })),
    },
  };
}

async function answerWithLines(
  deps: Pick<
    ApiDeps,
    'accessTokens' | 'clock' | 'config' | 'directory' | 'feeds' | 'history' | 'log' | 'makeId' | 'streams' | 'waits'
  >,
  context: RequestContext,
  asked: Asked & { follow: boolean },
): Promise<void> {
  const { topic, from, horizon, limit, follow, matches } = asked;
  const authorization = await authorizeReader(deps, context, topic);
  await streamLog(deps, {
    caller: context.caller,
    credential: authorization.credential,
    topic,
    from,
    ...(horizon === null ? {} : { read: readerFor(deps.history, topic, horizon) }),
    limit,
    matches,
    isFollowing: follow,
    response: context.response,
    first: () =>
      firstScan(deps, context, { ...asked, limit: Math.min(limit, linesPerRead), wait: follow ? 0 : asked.wait }),
    line: (record, topicName) => `${JSON.stringify(toTopicRecordJson(record, topicName, authorization.view()))}\n`,
    gap: async (start, first) => {
      const gap = await gapOf(deps.history, { topic, from: start, now: horizon?.() ?? null, first });
      return gap === null ? null : { line: `${JSON.stringify({ type: 'gap', ...gap })}\n`, next: gap.to_offset };
    },
    position: (next) => `${JSON.stringify({ type: 'position', next_offset: next })}\n`,
    authorize: authorization.endReason,
  });
}

/** Reads the first matching records, waiting for one if requested. */
async function firstScan(
  deps: Pick<ApiDeps, 'accessTokens' | 'clock' | 'config' | 'directory' | 'feeds' | 'history' | 'streams' | 'waits'>,
  context: RequestContext,
  of: Asked,
): Promise<Scan<TopicRecord>> {
  const isEnough = ({ found, isAtEnd }: Scan<TopicRecord>) => found.length > 0 || !isAtEnd;
  const scanOn = continuingScan(of);
  const read = readerFor(deps.history, of.topic, of.horizon);
  const scan = await scanOn(read);
  if (of.wait === 0 || isEnough(scan)) return scan;
  return waitAsReader(deps, context, of.topic, {
    waitMs: of.wait * 1_000,
    read: (feed) => scanOn(of.horizon === null ? (from, limit) => feed.records(from, limit) : read),
    isEnough,
  });
}

const readerFor =
  (history: ApiDeps['history'], topic: Topic, horizon: LogStart['horizon']) =>
  (from: number, limit: number): Promise<TopicRecord[]> =>
    history.records(topic, from, limit, horizon?.());

interface LogStart {
  readonly from: number;
  /** The time that decides what has expired for a protected consumer; null for all other readers. */
  readonly horizon: (() => number) | null;
}

interface Start {
  readonly from_offset?: number | undefined;
  readonly from_time?: string | undefined;
  readonly consumer?: string | undefined;
}

/**
 * Returns where to start. By time it is the first record that is not older, or the end of the readable log; by
 * consumer it is the stored offset. Throws 422 if more than one is given.
 */
async function startOf(
  deps: Pick<ApiDeps, 'clock' | 'config' | 'engine' | 'history'>,
  caller: Caller,
  topic: Topic,
  start: Start,
): Promise<LogStart> {
  const [first, second] = (['consumer', 'from_time', 'from_offset'] as const).filter(
    (name) => start[name] !== undefined,
  );
  if (second !== undefined) throw new AppError('unprocessable', `${first}: cannot be combined with ${second}`);
  if (start.consumer !== undefined) {
    const of = { caller, topicId: topic.id, name: start.consumer };
    const { documents } = deps.engine;
    const [consumer, horizon] = await Promise.all([
      loadConsumer(documents, of),
      consumerHorizon({ documents, clock: deps.clock, isSet: deps.config.RETENTION_PROTECT_CONSUMERS }),
    ]);
    return { from: consumer.offset, horizon: horizon === null ? null : () => horizon(consumer) };
  }
  if (start.from_time === undefined) return { from: start.from_offset ?? 0, horizon: null };
  const time = parseTime(start.from_time);
  if (time === null) throw new AppError('unprocessable', 'from_time: must be an ISO 8601 time');
  const { offset, settled } = await deps.history.offsetAtTime(topic, time);
  return { from: offset ?? settled + 1, horizon: null };
}
