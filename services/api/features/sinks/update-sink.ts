import { sinks } from '@tocsin/shared/collections/sinks/sinks.ts';
import { retryStale } from '@tocsin/shared/documents/retry-stale.ts';
import { updateWith } from '@tocsin/shared/documents/update-with.ts';
import { restartedSink, type Sink } from '@tocsin/shared/domain/sinks/sink.ts';
import { sinkPolicyOf } from '@tocsin/shared/platform/sink-urls.ts';
import type { Changes } from '@tocsin/shared/ports/documents.ts';
import { sinkSchema } from '@tocsin/shared/wire/sink.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { auditOf } from '../../audit.ts';
import { route, type Route } from '../../http/route.ts';
import { describeSinks } from './describe-sinks.ts';
import { findSink, loadManagedSink } from './load-sink.ts';
import { offsetField, requireSinkUrl, sinkFields } from './sink-fields.ts';

const body = z.object({
  name: sinkFields.name.optional(),
  url: sinkFields.url.optional(),
  filter: sinkFields.filter.optional(),
  headers: sinkFields.headers.optional(),
  state: z.enum(['active', 'paused']).optional(),
  offset: offsetField.optional().describe('The offset to send next.'),
});

/** `PATCH /api/topics/{topic_id}/sinks/{sink_id}` */
export function updateSink(
  deps: Pick<ApiDeps, 'clock' | 'config' | 'directory' | 'engine' | 'history' | 'makeId' | 'wholeAddress'>,
): Route {
  const policy = sinkPolicyOf(deps.config);
  return route({
    id: 'updateSink',
    method: 'PATCH',
    path: '/api/topics/{topic_id}/sinks/{sink_id}',
    summary: 'Change, pause, activate or rewind a sink',
    description: 'A request under way is completed. Activation starts a new series of attempts.',
    audience: 'account',
    scope: 'topics:write',
    body,
    success: { status: 200, schema: sinkSchema, description: 'The sink' },
    load: loadManagedSink(deps),
    async handle(context, { loaded, body: fields }) {
      if (fields.url !== undefined) requireSinkUrl(fields.url, policy);
      const { documents } = deps.engine;
      const sink = await retryStale(async () => {
        const stored = await findSink(documents, loaded.topic.id, loaded.sink.id);
        const set = changesOf(stored, fields, context.now);
        const named = Object.keys(fields).filter((name) => fields[name as keyof typeof fields] !== undefined);
        if (named.length === 0) return stored;
        const otherWrites = auditOf(
          deps,
          context,
        )({
          action: 'sink.changed',
          subject: { id: stored.id, name: set.name ?? stored.name },
          within: { type: 'topic', id: stored.topicId },
          details: { fields: named },
        });
        return updateWith(documents, sinks, stored, { set, otherWrites });
      });
      const [json] = await describeSinks(deps, [sink]);
      return { status: 200, body: json };
    },
  });
}

function changesOf(stored: Sink, fields: z.output<typeof body>, now: number): Changes<Sink> {
  const { name, url, filter, headers, state, offset } = fields;
  const changes = {
    ...(name === undefined ? {} : { name }),
    ...(url === undefined ? {} : { url }),
    ...(filter === undefined ? {} : { filter }),
    ...(headers === undefined ? {} : { headers }),
  };
  if (state === undefined && offset === undefined) return changes;
  const restart = {
    ...(offset === undefined ? {} : { offset }),
    ...(state === undefined ? {} : { state, stateReason: null }),
  };
  return { ...changes, ...restartedSink(stored, restart, now) };
}
