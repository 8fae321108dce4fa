import { z } from 'zod';

const rate = z.number().nullable();
const count = z.int().nullable();

/** Metrics of a process at one time. */
export const metricsSampleSchema = z
  .object({
    at: z.iso.datetime(),
    publishes_per_second: rate.describe('Accepted publishes of this process. Null at its start.'),
    server_errors_per_second: rate.describe('Responses of this process with a status of 500 or above.'),
    pushes_per_second: rate.describe('Pushes that a provider accepted. Null if this process sends no pushes.'),
    fanout_lag_records: count.describe('Of the installation. Null while the log is down.'),
    notifier_lag_records: count.describe('Of the installation. Null while the log is down.'),
    queued_jobs: count.describe('Waiting and delayed jobs of the installation. Null while the queue is down.'),
    open_streams: z.int().describe('Of this process.'),
  })
  .meta({ id: 'MetricsSample' });

export type MetricsSampleJson = z.infer<typeof metricsSampleSchema>;

/** Jobs of a queue by state. */
export const queueDepthSchema = z.object({
  queue: z.string(),
  waiting: z.int(),
  delayed: z.int(),
  active: z.int(),
  failed: z.int(),
});

export type QueueDepthJson = z.infer<typeof queueDepthSchema>;

export const recentMetricsSchema = z.object({
  process: z.object({
    version: z.string(),
    engine: z.enum(['embedded', 'cluster']),
    host: z.string(),
    pid: z.int(),
    node_version: z.string(),
    started_at: z.iso.datetime(),
  }),
  interval_seconds: z.int(),
  samples: z.array(metricsSampleSchema).describe('Oldest first, at most an hour. The last is of now.'),
  queues: z.array(queueDepthSchema).nullable().describe('Null while the queue is down.'),
});
