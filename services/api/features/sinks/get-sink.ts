import { sinkSchema } from '@tocsin/shared/wire/sink.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { route, type Route } from '../../http/route.ts';
import { describeSinks } from './describe-sinks.ts';
import { loadManagedSink } from './load-sink.ts';

/** `GET /api/topics/{topic_id}/sinks/{sink_id}` */
export function getSink(deps: Pick<ApiDeps, 'clock' | 'directory' | 'engine' | 'history'>): Route {
  return route({
    id: 'getSink',
    method: 'GET',
    path: '/api/topics/{topic_id}/sinks/{sink_id}',
    summary: 'Get a sink',
    audience: 'account',
    scope: 'topics:read',
    success: { status: 200, schema: sinkSchema, description: 'The sink' },
    load: loadManagedSink(deps),
    async handle(_, { loaded: { sink } }) {
      const [json] = await describeSinks(deps, [sink]);
      return { status: 200, body: json };
    },
  });
}
