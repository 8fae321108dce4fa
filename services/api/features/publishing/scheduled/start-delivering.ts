import { setTimeout as sleep } from 'node:timers/promises';
import { Counter, Histogram, type Registry } from 'prom-client';
import { scheduledMessages } from '@tocsin/shared/collections/messages/scheduled-messages.ts';
import { untilDone } from '@tocsin/shared/async/until-done.ts';
import type { ApiDeps } from '../../../api-deps.ts';
import { deliverBatch, type DeliverDeps, type DueMessages } from './deliver-batch.ts';

/** Between two looks for due messages. Different on each look, so that nodes do not compete for every batch. */
const pauseMs = { min: 500, max: 900 } as const;
/** Messages per claim. A node that dies delays the rest of its claim. */
const batchMax = 200;

/**
 * Delivers scheduled messages when they are due, until it is closed; `close` waits for the batch in progress. Every API
 * node does this, without a coordinator: each message is delivered by the node that claims it.
 */
export function startDelivering(deps: DeliverDeps & Pick<ApiDeps, 'metrics'>): { close(): Promise<void> } {
  const closing = new AbortController();
  const { signal } = closing;
  const metrics = deliveryMetrics(deps.metrics);
  const run = async () => {
    while (!signal.aborted) {
      await untilDone(() => deliverDue(deps, { metrics, signal }), {
        signal,
        onFailure: (error, failures) =>
          deps.log.warn({ err: error, failures }, 'scheduled messages cannot be delivered, retrying'),
      });
      const pause = pauseMs.min + Math.random() * (pauseMs.max - pauseMs.min);
      await sleep(pause, undefined, { signal }).catch(() => undefined); // the abort ends the pause early
    }
  };
  const done = run();
  return {
    close() {
      closing.abort();
      return done;
    },
  };
}

/** Delivers everything that is due, oldest first. */
async function deliverDue(
  deps: DeliverDeps,
  { metrics, signal }: { metrics: ReturnType<typeof deliveryMetrics>; signal: AbortSignal },
): Promise<void> {
  while (!signal.aborted) {
    const { due, now } = await findDue(deps);
    if (due.length === 0) return;
    const { delivered, dropped, unconfirmed } = await deliverBatch(deps, { due, now });
    const times = new Map(due.map(({ id, scheduledFor }) => [id, scheduledFor]));
    for (const { id, timestamp } of delivered) metrics.lateness.observe((timestamp - times.get(id)!) / 1_000);
    metrics.outcomes.inc({ outcome: 'delivered' }, delivered.length);
    metrics.outcomes.inc({ outcome: 'dropped' }, dropped);
    if (due.length < batchMax || unconfirmed > 0) return;
  }
}

/** By the clocks of this node and of the store, so that a node whose clock is ahead publishes nothing early. */
async function findDue({ engine: { documents, storage }, clock }: DeliverDeps): Promise<DueMessages> {
  const now = clock();
  const due = await documents.find(scheduledMessages, { index: 'byDue', equals: {}, to: now, limit: batchMax });
  if (due.length === 0 || storage.time === undefined) return { due, now };
  const shared = await storage.time();
  return { due: due.filter(({ dueAt }) => dueAt! <= shared), now: shared };
}

function deliveryMetrics(registry: Registry) {
  return {
    lateness: new Histogram({
      name: 'tocsin_scheduled_lateness_seconds',
      help: 'Time from the scheduled time of a message to its append',
      buckets: [0.25, 0.5, 1, 2, 5, 10, 60, 600],
      registers: [registry],
    }),
    outcomes: new Counter({
      name: 'tocsin_scheduled_messages_total',
      help: 'Scheduled messages that were delivered or dropped',
      labelNames: ['outcome'],
      registers: [registry],
    }),
  };
}
