import { findDeliveryPages } from '@tocsin/shared/collections/sinks/sinks.ts';
import { sinkLimits } from '@tocsin/shared/domain/sinks/sink.ts';
import { sinkDeliverySchema, toSinkDeliveryJson } from '@tocsin/shared/wire/sink.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { queryInteger } from '../../http/paging.ts';
import { route, type Route } from '../../http/route.ts';
import { loadManagedSink } from './load-sink.ts';

/** `GET /api/topics/{topic_id}/sinks/{sink_id}/deliveries`: newest first. */
export function getSinkDeliveries(deps: Pick<ApiDeps, 'directory' | 'engine'>): Route {
  return route({
    id: 'getSinkDeliveries',
    method: 'GET',
    path: '/api/topics/{topic_id}/sinks/{sink_id}/deliveries',
    summary: 'List the last deliveries of a sink',
    description: 'One item per record, with its last attempt. Items appear up to a second after their request.',
    audience: 'account',
    scope: 'topics:read',
    query: z.object({
      limit: queryInteger({ min: 1, max: sinkLimits.deliveries }).default(sinkLimits.deliveries),
    }),
    success: { status: 200, schema: z.array(sinkDeliverySchema), description: 'The deliveries, newest first' },
    load: loadManagedSink(deps),
    async handle(_, { loaded: { sink }, query: { limit } }) {
      const pages = await findDeliveryPages(deps.engine.documents, sink.id);
      const newest = pages.flatMap(({ deliveries }) => deliveries.toReversed()).slice(0, limit);
      return { status: 200, body: newest.map(toSinkDeliveryJson) };
    },
  });
}
