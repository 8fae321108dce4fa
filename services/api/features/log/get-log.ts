import type { Caller } from '@tocsin/shared/domain/caller.ts';
import { AppError } from '@tocsin/shared/domain/errors.ts';
import { toIso, toMessageJson } from '@tocsin/shared/domain/message-json.ts';
import { parseTime } from '@tocsin/shared/domain/parse-time.ts';
import type { Topic } from '@tocsin/shared/domain/topic.ts';
import type { TopicRecord } from '@tocsin/shared/ports/messages.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { loadTopic } from '../../http/load-topic.ts';
import { messageSchema } from '../../http/message-schema.ts';
import { queryInteger } from '../../http/paging.ts';
import { route, type Route } from '../../http/route.ts';
import { waitForRecord } from '../../live/wait-for-record.ts';
import { loadConsumer } from './consumer-owner.ts';

const waitSecondsMax = 60;

const recordSchema = z.object({
  offset: z.int(),
  type: z.enum(['message', 'message_edited', 'message_deleted']),
  timestamp: z.iso.datetime(),
  message: messageSchema,
});

/** `GET /api/topics/{name}/log`: replay of a topic's records from a position or a time. */
export function getLog(deps: ApiDeps): Route {
  return route({
    id: 'getLog',
    method: 'GET',
    path: '/api/topics/{name}/log',
    summary: 'Replay the records of a topic from an offset, a time or a named position',
    audience: 'anyone',
    scope: 'subscribe',
    isTopicRoute: true,
    query: z.object({
      from_offset: queryInteger({ min: 0, max: Number.MAX_SAFE_INTEGER }).optional(),
      from_time: z.string().optional(),
      consumer: z.string().optional(),
      limit: queryInteger({ min: 1, max: 1_000 }).default(100),
      wait: queryInteger({ min: 0, max: waitSecondsMax }).default(0),
    }),
    success: {
      status: 200,
      schema: z.object({ topic: z.string(), records: z.array(recordSchema), next_offset: z.int() }),
      description: 'Records in order of position, and where to go on',
    },
    load: loadTopic(deps.directory, 'read', 'name'),
    async handle(context, { loaded: topic, query }) {
      const from = await startOf(deps, context.caller, topic, query);
      const read = () => deps.history.records(topic, from, query.limit);
      let records = await read();
      if (records.length === 0 && query.wait > 0) {
        records = await waitForRecord(deps.feeds, topic, { waitMs: query.wait * 1_000, read, closed: context.response });
      }
      return {
        status: 200,
        body: {
          topic: topic.name,
          records: records.map((record) => recordJson(record, topic.name)),
          next_offset: records.length === 0 ? from : records.at(-1)!.offset + 1,
        },
      };
    },
  });
}

interface Start {
  readonly from_offset?: number | undefined;
  readonly from_time?: string | undefined;
  readonly consumer?: string | undefined;
}

/**
 * The position to read from. By time it is the first record not older, or the end of what can be read; by consumer the one
 * that is kept under that name. Throws 422 for more than one of them.
 */
async function startOf(deps: ApiDeps, caller: Caller, topic: Topic, start: Start): Promise<number> {
  const [first, second] = (['consumer', 'from_time', 'from_offset'] as const).filter((name) => start[name] !== undefined);
  if (second !== undefined) throw new AppError('unprocessable', `${first}: cannot be combined with ${second}`);
  if (start.consumer !== undefined) {
    return (await loadConsumer(deps.engine.documents, { caller, topicId: topic.id, name: start.consumer })).offset;
  }
  if (start.from_time === undefined) return start.from_offset ?? 0;
  const time = parseTime(start.from_time);
  if (time === null) throw new AppError('unprocessable', 'from_time: must be an ISO 8601 time');
  const { offset, settled } = await deps.history.offsetAtTime(topic, time);
  return offset ?? settled + 1;
}

function recordJson(record: TopicRecord, topicName: string) {
  return { offset: record.offset, type: record.type, timestamp: toIso(record.timestamp), message: toMessageJson(record.message, topicName) };
}
