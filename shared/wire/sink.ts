import { z } from 'zod';
import { deliveryOutcomes, sinkKinds, sinkStates, type Sink, type SinkDelivery } from '../domain/sinks/sink.ts';
import { isoOrNull, toIso } from '../domain/to-iso.ts';

/** A sink without its secret. */
export const sinkSchema = z
  .object({
    id: z.uuid(),
    topic_id: z.uuid(),
    created_by: z.uuid(),
    name: z.string(),
    kind: z.enum(sinkKinds),
    url: z.string(),
    filter: z.object({ priority_min: z.int().nullable(), tags: z.array(z.string()), q: z.string().nullable() }),
    headers: z.record(z.string(), z.string()),
    state: z.enum(sinkStates),
    state_reason: z.string().nullable().describe('Why it stopped; null if a manager paused it.'),
    offset: z.int().describe('The offset to send next.'),
    lag: z.int().describe('Records that it has not handled yet.'),
    attempts: z.int().describe('Failed attempts of the record at `offset`.'),
    failing_since: z.iso.datetime().nullable(),
    next_attempt_at: z.iso.datetime().nullable(),
    delivered: z.int(),
    skipped: z.int().describe('Records that the receiver refused.'),
    created_at: z.iso.datetime(),
  })
  .meta({ id: 'Sink' });

export type SinkJson = z.infer<typeof sinkSchema>;

export function toSinkJson(sink: Sink, lag: number): SinkJson {
  const { text, tags, priorityMin } = sink.filter;
  return {
    id: sink.id,
    topic_id: sink.topicId,
    created_by: sink.createdBy,
    name: sink.name,
    kind: sink.kind,
    url: sink.url,
    filter: { priority_min: priorityMin, tags: [...tags], q: text },
    headers: { ...sink.headers },
    state: sink.state,
    state_reason: sink.stateReason,
    offset: sink.offset,
    lag,
    attempts: sink.attempts,
    failing_since: isoOrNull(sink.failingSince),
    next_attempt_at: isoOrNull(sink.retryAt),
    delivered: sink.delivered,
    skipped: sink.skipped,
    created_at: toIso(sink.createdAt),
  };
}

export const sinkDeliverySchema = z
  .object({
    offset: z.int().nullable().describe('Null for a test.'),
    webhook_id: z.string(),
    outcome: z.enum(deliveryOutcomes),
    status: z.int().nullable().describe('The HTTP status; null without a response.'),
    error: z.string().nullable(),
    attempts: z.int(),
    milliseconds: z.int().describe('The duration of the last attempt.'),
    at: z.iso.datetime(),
  })
  .meta({ id: 'SinkDelivery' });

export type SinkDeliveryJson = z.infer<typeof sinkDeliverySchema>;

export const toSinkDeliveryJson = (delivery: SinkDelivery): SinkDeliveryJson => ({
  offset: delivery.offset,
  webhook_id: delivery.requestId,
  outcome: delivery.outcome,
  status: delivery.status,
  error: delivery.error,
  attempts: delivery.attempts,
  milliseconds: delivery.milliseconds,
  at: toIso(delivery.at),
});
