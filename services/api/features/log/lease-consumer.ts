import { logConsumers } from '@tocsin/shared/collections/log-consumers.ts';
import { retryStale } from '@tocsin/shared/documents/retry-stale.ts';
import { AppError } from '@tocsin/shared/domain/errors.ts';
import { toIso } from '@tocsin/shared/domain/to-iso.ts';
import { hashSecret, makeSecret } from '@tocsin/shared/platform/secrets.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { loadTopic } from '../../http/load-topic.ts';
import { route, type Route } from '../../http/route.ts';
import { loadConsumer } from './consumer-owner.ts';
import { givenLease, holdsLease, leaseHeaders, requireLease } from './lease-fields.ts';

const ttlFault = 'must be a whole number of seconds from 10 to 300';

const body = z.object({
  ttl: z
    .number()
    .refine((seconds) => Number.isInteger(seconds) && seconds >= 10 && seconds <= 300, ttlFault)
    .meta({ type: 'integer', minimum: 10, maximum: 300, description: 'Seconds until the lease expires.' }),
});

/**
 * `POST /api/topics/{name}/consumers/{consumer}/lease`: of several programs with the consumer, one at a time gets the
 * lease. With its lease, the holder extends it.
 */
export function leaseConsumer(deps: Pick<ApiDeps, 'clock' | 'directory' | 'engine'>): Route {
  const { documents } = deps.engine;
  return route({
    id: 'leaseConsumer',
    method: 'POST',
    path: '/api/topics/{name}/consumers/{consumer}/lease',
    summary: 'Lease a consumer, or extend the lease',
    audience: 'anyone',
    scope: 'subscribe',
    isTopicRoute: true,
    reads: { headers: leaseHeaders },
    body,
    success: {
      status: 200,
      schema: z.object({
        lease: z.string().meta({ description: 'A secret, to send as `X-Lease`.' }),
        expires_at: z.iso.datetime(),
        offset: z.int().meta({ description: 'The next offset to read.' }),
      }),
      description: 'The lease',
    },
    errors: { 409: 'Another program holds the lease, or the given lease was lost.' },
    async load(context) {
      const topic = await loadTopic(deps.directory, 'read', 'name')(context);
      const of = { caller: context.caller, topicId: topic.id, name: context.params['consumer']! };
      await loadConsumer(documents, of);
      return () => loadConsumer(documents, of);
    },
    async handle({ request }, { loaded: load, body: { ttl } }) {
      const given = givenLease(request);
      return retryStale(async () => {
        const consumer = await load();
        // Not the time of the request, which may precede the lease that another program got meanwhile.
        const now = deps.clock();
        requireLease(consumer, given);
        const remainingMs = (consumer.leaseUntil ?? 0) - now;
        if (consumer.leaseHash !== null && remainingMs > 0 && !holdsLease(consumer, given))
          throw new AppError('conflict', 'Consumer is leased', { retryAfterSeconds: remainingMs / 1_000 });
        const lease = given ?? makeSecret('cl_');
        const leaseUntil = now + ttl * 1_000;
        await documents.update(logConsumers, consumer, { leaseHash: hashSecret(lease), leaseUntil });
        return { status: 200, body: { lease, expires_at: toIso(leaseUntil), offset: consumer.offset } };
      });
    },
  });
}
