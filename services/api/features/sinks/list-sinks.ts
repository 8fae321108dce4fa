import { findSinks } from '@tocsin/shared/collections/sinks/sinks.ts';
import { sinkSchema } from '@tocsin/shared/wire/sink.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { loadManagedTopic } from '../../http/load-topic.ts';
import { route, type Route } from '../../http/route.ts';
import { describeSinks } from './describe-sinks.ts';

/** `GET /api/topics/{topic_id}/sinks`: oldest first. */
export function listSinks(deps: Pick<ApiDeps, 'clock' | 'directory' | 'engine' | 'history'>): Route {
  return route({
    id: 'listSinks',
    method: 'GET',
    path: '/api/topics/{topic_id}/sinks',
    summary: 'List the sinks of a topic',
    audience: 'account',
    scope: 'topics:read',
    success: { status: 200, schema: z.array(sinkSchema), description: 'The sinks, oldest first' },
    load: loadManagedTopic(deps.directory),
    async handle(_, { loaded: { id } }) {
      return { status: 200, body: await describeSinks(deps, await findSinks(deps.engine.documents, id)) };
    },
  });
}
