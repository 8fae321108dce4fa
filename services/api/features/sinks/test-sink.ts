import { sinks } from '@tocsin/shared/collections/sinks/sinks.ts';
import { retryStale } from '@tocsin/shared/documents/retry-stale.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { route, type Route } from '../../http/route.ts';
import { findSink, loadManagedSink } from './load-sink.ts';

/** `POST /api/topics/{topic_id}/sinks/{sink_id}/test` */
export function testSink(deps: Pick<ApiDeps, 'directory' | 'engine'>): Route {
  return route({
    id: 'testSink',
    method: 'POST',
    path: '/api/topics/{topic_id}/sinks/{sink_id}/test',
    summary: 'Send a test to a sink',
    description:
      'One request of the type `tocsin.test`, after the one under way, also to a paused sink. The deliveries show its outcome with `offset` null.',
    audience: 'account',
    scope: 'topics:write',
    success: {
      status: 202,
      schema: z.object({ message: z.string(), sink_id: z.uuid() }),
      description: 'The test is queued',
    },
    load: loadManagedSink(deps),
    async handle({ now }, { loaded }) {
      const { documents } = deps.engine;
      await retryStale(async () => {
        const sink = await findSink(documents, loaded.topic.id, loaded.sink.id);
        const dueAt = sink.claim === null ? now : sink.dueAt;
        await documents.update(sinks, sink, { testAt: now, isIdle: false, dueAt });
      });
      return { status: 202, body: { message: 'Test queued', sink_id: loaded.sink.id } };
    },
  });
}
