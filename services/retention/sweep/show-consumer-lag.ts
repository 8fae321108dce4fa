import { Gauge, type Registry } from 'prom-client';
import type { LogConsumer } from '@tocsin/shared/domain/log/log-consumer.ts';
import { consumerLag } from '@tocsin/shared/operations/messages/consumer-lag.ts';
import { logConsumers } from '@tocsin/shared/collections/log-consumers.ts';
import { paginateIndex } from '@tocsin/shared/documents/paginate-index.ts';
import type { Clock } from '@tocsin/shared/platform/clock.ts';
import type { Engine } from '@tocsin/shared/ports/engine.ts';

/** Consumers with a value of their own; the others are summed. */
const shownMax = 100;
/** Limits the work of a measurement to seconds. */
const consumersMax = 100_000;
/** Scrapes share a measurement for this long. */
const measuredMs = 30_000;
/** A consumer whose offset was stored this recently is active. */
const activeMs = 86_400_000;

interface Lagging {
  readonly consumer: LogConsumer;
  /** At least the lag: topics share the offsets of a partition. */
  readonly behind: number;
  readonly head: number;
}

/** Exposes the lag of the consumers of topics. Every retention worker reports the same values. */
export function showConsumerLag(
  registry: Registry,
  deps: { engine: Pick<Engine, 'documents' | 'messages'>; clock: Clock },
): void {
  let measuredAt = -Infinity;
  new Gauge({
    name: 'tocsin_log_consumer_lag_records',
    help: `Records that consumers of topics have not read: the ${shownMax} furthest behind, and the sum of the others`,
    labelNames: ['state', 'topic_id', 'consumer'],
    registers: [registry],
    async collect() {
      if (performance.now() - measuredAt < measuredMs) return;
      const lags = await measure(deps).catch(() => null);
      if (lags === null) return; // while the store is down, the last values stay
      measuredAt = performance.now();
      this.reset();
      for (const { labels, lag } of lags) this.inc(labels, lag);
    },
  });
}

interface MeasuredLag {
  readonly labels: Record<'state' | 'topic_id' | 'consumer', string>;
  readonly lag: number;
}

async function measure({
  engine: { documents, messages },
  clock,
}: Parameters<typeof showConsumerLag>[1]): Promise<MeasuredLag[]> {
  const now = clock();
  const state = ({ updatedAt }: LogConsumer) => (updatedAt > now - activeMs ? 'active' : 'idle');
  const others = { active: 0, idle: 0 };
  const worst: Lagging[] = [];
  let count = 0;
  const byOwner = {
    index: 'byOwner',
    equals: {},
    valueOf: ({ ownerId }: LogConsumer) => ownerId,
    next: (ownerId: string) => `${ownerId}\0`,
  };
  for await (const page of paginateIndex(documents, logConsumers, byOwner)) {
    const heads = await messages.lastOffsets([...new Set(page.map(({ topicId }) => topicId))]);
    for (const consumer of page) {
      const head = (heads.get(consumer.topicId) ?? -1) + 1;
      if (consumer.offset < head) worst.push({ consumer, head, behind: head - consumer.offset });
    }
    worst.sort((a, b) => b.behind - a.behind);
    for (const { consumer, behind } of worst.splice(shownMax)) others[state(consumer)] += behind;
    count += page.length;
    if (count >= consumersMax) break;
  }
  const lags: MeasuredLag[] = Object.entries(others).map(([state, lag]) => ({
    labels: { state, topic_id: '', consumer: '' },
    lag,
  }));
  for (const { consumer, head } of worst) {
    const { lag } = await consumerLag((topicId, of) => messages.countRecords(topicId, { ...of, now }), consumer, head);
    lags.push({ labels: { state: state(consumer), topic_id: consumer.topicId, consumer: consumer.name }, lag });
  }
  return lags;
}
