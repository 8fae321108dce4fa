import type { Registry } from 'prom-client';
import { lostSince, type LogConsumer } from '@tocsin/shared/domain/log/log-consumer.ts';
import { sinkStates, type Sink } from '@tocsin/shared/domain/sinks/sink.ts';
import { logConsumers } from '@tocsin/shared/collections/log-consumers.ts';
import { sinks } from '@tocsin/shared/collections/sinks/sinks.ts';
import { paginateIndex } from '@tocsin/shared/documents/paginate-index.ts';
import { consumerHorizon } from '@tocsin/shared/operations/retention/consumer-horizon.ts';
import type { Clock } from '@tocsin/shared/platform/clock.ts';
import type { Config } from '@tocsin/shared/platform/load-config.ts';
import type { Engine } from '@tocsin/shared/ports/engine.ts';
import { showLag } from './lag-gauge.ts';

/** A consumer whose offset was stored this recently is active. */
const activeMs = 86_400_000;

interface LagDeps {
  readonly engine: Pick<Engine, 'documents' | 'messages'>;
  readonly clock: Clock;
}

type ProtectionConfig = Pick<Config, 'RETENTION_PROTECT_CONSUMERS'>;

/** Exposes the lag of the consumers of topics. Every retention worker reports the same values. */
export function showConsumerLag(
  registry: Registry,
  { engine: { documents, messages }, clock, config }: LagDeps & { readonly config: ProtectionConfig },
): void {
  showLag(
    registry,
    { messages, clock },
    {
      name: 'tocsin_log_consumer_lag_records',
      help: 'Records that consumers of topics have not read: the 100 furthest behind, and the sum of the others',
      label: 'consumer',
      states: ['active', 'idle'],
      pages: () =>
        paginateIndex(documents, logConsumers, {
          index: 'byOwner',
          equals: {},
          valueOf: ({ ownerId }: LogConsumer) => ownerId,
          next: (ownerId: string) => `${ownerId}\0`,
        }),
      stateOf: ({ updatedAt }, now) => (updatedAt > now - activeMs ? 'active' : 'idle'),
      labelOf: ({ name }) => name,
      lostSince,
      horizon: () => consumerHorizon({ documents, clock, isSet: config.RETENTION_PROTECT_CONSUMERS }),
    },
  );
}

/** Exposes the lag of the sinks of topics. Every retention worker reports the same values. */
export function showSinkLag(registry: Registry, { engine: { documents, messages }, clock }: LagDeps): void {
  showLag(
    registry,
    { messages, clock },
    {
      name: 'tocsin_sink_lag_records',
      help: 'Records that sinks have not sent: the 100 furthest behind, and the sum of the others',
      label: 'sink_id',
      states: sinkStates,
      pages: () =>
        paginateIndex(documents, sinks, {
          index: 'byTopic',
          equals: {},
          valueOf: ({ topicId }: Sink) => topicId,
          next: (topicId: string) => `${topicId}\0`,
        }),
      stateOf: ({ state }) => state,
      labelOf: ({ id }) => id,
    },
  );
}
