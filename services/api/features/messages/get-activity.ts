import { AppError } from '@tocsin/shared/domain/errors.ts';
import type { ActivityCount } from '@tocsin/shared/ports/messages/message-search.ts';
import { toIso } from '@tocsin/shared/domain/to-iso.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { queryList } from '../../http/query-list.ts';
import { route, type Route } from '../../http/route.ts';
import { timeField } from '../../http/time-field.ts';
import {
  filterFields,
  requireOrdered,
  textQuery,
  textQueryMeaning,
  toFilter,
} from '../../http/filtering/filter-fields.ts';
import { loadNamedTopics, namedTopicErrors, topicsNamedMax } from './load-named-topics.ts';
import { searchableTopics } from './searchable-topics.ts';

const hourMs = 3_600_000;
const bucketSizes = { hour: hourMs, day: 24 * hourMs } as const;
type BucketSize = keyof typeof bucketSizes;

const rangeMsDefault = 24 * hourMs;
/** Up to this range the default bucket is an hour. */
const hoursUpToMs = 48 * hourMs;
const bucketsMax = 1_000;

const bucketSchema = z
  .object({
    timestamp: z.iso.datetime(),
    priority_1: z.int(),
    priority_2: z.int(),
    priority_3: z.int(),
    priority_4: z.int(),
    priority_5: z.int(),
  })
  .meta({ id: 'ActivityBucket' });
type Bucket = z.infer<typeof bucketSchema>;

/** `GET /api/messages/activity`: the number of messages by hour or day and by priority. */
export function getActivity(deps: Pick<ApiDeps, 'directory' | 'engine' | 'topicSpans'>): Route {
  return route({
    id: 'getActivity',
    method: 'GET',
    path: '/api/messages/activity',
    summary: 'Count messages by hour or day and by priority',
    description: `Buckets in UTC over the topics of a search; at most ${bucketsMax} buckets.`,
    audience: 'account',
    scope: 'subscribe',
    query: z
      .object({
        start_date: timeField('startOfDay')
          .optional()
          .describe('Published at or after this time; a bare date is the start of its day. By default 24 hours ago.'),
        end_date: timeField('endOfDay')
          .optional()
          .describe('Published at or before this time; a bare date is the end of its day. By default now.'),
        bucket: z.enum(['hour', 'day']).optional().describe('By default hours for up to 48 hours, otherwise days.'),
        topics: queryList({ max: topicsNamedMax })
          .optional()
          .describe('Only these topics, including any public ones. Separated by commas or repeated.'),
        query: textQuery.optional().describe(textQueryMeaning),
        ...filterFields,
      })
      .superRefine(requireOrdered),
    success: {
      status: 200,
      schema: z.object({
        buckets: z.array(bucketSchema),
        total: z.int(),
        bucket_size: z.enum(['hour', 'day']),
        start_date: z.iso.datetime(),
        end_date: z.iso.datetime(),
      }),
      description:
        'All buckets of the range, oldest first, including empty ones. `timestamp` is the start of a bucket; the first and last may be partial',
    },
    errors: namedTopicErrors,
    load: (context) => loadNamedTopics(deps, context),
    async handle(context, { loaded: named, query }) {
      const range = rangeOf(query, context.now);
      const topicIds = named?.map(({ id }) => id) ?? (await searchableTopics(deps, context.account())).ids;
      const filter = toFilter(
        { ...query, date_from: range.start, date_to: range.end },
        { topicIds, text: query.query ?? null, now: context.now },
      );
      const counts = await deps.engine.messages.activity(filter, bucketSizes[range.size]);
      return {
        status: 200,
        body: {
          buckets: bucketsOf(range, counts),
          total: counts.reduce((sum, { count }) => sum + count, 0),
          bucket_size: range.size,
          start_date: toIso(range.start),
          end_date: toIso(range.end),
        },
      };
    },
  });
}

interface Range {
  readonly start: number;
  readonly end: number;
  readonly size: BucketSize;
}

/** Throws 422 for a reversed range and for too many buckets. */
function rangeOf(
  query: { start_date?: number | undefined; end_date?: number | undefined; bucket?: BucketSize | undefined },
  now: number,
): Range {
  const start = query.start_date ?? now - rangeMsDefault;
  const end = query.end_date ?? now;
  if (start > end) throw new AppError('unprocessable', 'start_date: must not be after end_date');
  const size = query.bucket ?? (end - start <= hoursUpToMs ? 'hour' : 'day');
  const buckets = Math.floor(end / bucketSizes[size]) - Math.floor(start / bucketSizes[size]) + 1;
  if (buckets > bucketsMax) {
    throw new AppError(
      'unprocessable',
      `start_date: the range has ${buckets} buckets, at most ${bucketsMax} can be counted: ask for a shorter one${size === 'hour' ? ' or for days' : ''}`,
    );
  }
  return { start, end, size };
}

function bucketsOf({ start, end, size }: Range, counts: readonly ActivityCount[]): Bucket[] {
  const bucketMs = bucketSizes[size];
  const buckets = new Map<number, Bucket>();
  for (let at = Math.floor(start / bucketMs) * bucketMs; at <= end; at += bucketMs) {
    buckets.set(at, {
      timestamp: toIso(at),
      priority_1: 0,
      priority_2: 0,
      priority_3: 0,
      priority_4: 0,
      priority_5: 0,
    });
  }
  for (const { start: at, priority, count } of counts) buckets.get(at)![`priority_${priority}`] = count;
  return [...buckets.values()];
}
