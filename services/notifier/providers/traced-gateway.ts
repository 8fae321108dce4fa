import type { Platform } from '@tocsin/shared/domain/push/device.ts';
import { messagingOperation, type Tracing } from '@tocsin/shared/runtime/tracing/tracing.ts';
import { isToComeAgain, type PushGateway, type PushResult } from './push-gateway.ts';

/**
 * Adds a span per batch with the number of pushes per result. The span has failed if the provider accepted no push
 * because of a general error.
 */
export function tracedGateway(gateway: PushGateway, platform: Platform, tracing: Tracing): PushGateway {
  if (!tracing.isEnabled) return gateway;
  return {
    ...gateway,
    send: async (batch) => {
      const span = tracing.start({
        name: `send ${platform}`,
        kind: 'client',
        attributes: {
          'messaging.system': platform,
          ...messagingOperation('send'),
          'messaging.batch.message_count': batch.length,
        },
      });
      const results = await tracing.within(span, () => gateway.send(batch));
      span.set(countsOf(results));
      span.end(results.every(isToComeAgain) ? results[0]?.kind : undefined);
      return results;
    },
  };
}

function countsOf(results: readonly PushResult[]): Record<string, number> {
  const byKind = Map.groupBy(results, ({ kind }) => kind.replaceAll('-', '_'));
  return Object.fromEntries([...byKind].map(([kind, { length }]) => [`tocsin.push.${kind}`, length]));
}
