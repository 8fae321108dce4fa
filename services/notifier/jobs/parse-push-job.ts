import { z } from 'zod';
import { platforms } from '@tocsin/shared/domain/push/device.ts';
import type { PushJob } from '@tocsin/shared/domain/push/push-job.ts';
import { Discard, type JobData } from '@tocsin/shared/ports/job-queue.ts';

const id = z.string().min(1);
const target = z.object({ deviceId: id, userId: id, subscriptionId: id });

const page = z.object({
  kind: z.enum(['repeat', 'step']),
  round: z.number().int().min(1),
  number: z.number().int().min(0),
});

const pushJob: z.ZodType<PushJob> = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('walk'),
    messageId: id,
    topicId: id,
    after: id.nullable(),
    publishedAt: z.number(),
    renotify: id.optional(),
    page: page.optional(),
  }),
  z.object({ kind: z.literal('step'), messageId: id, topicId: id, page }),
  z.object({
    kind: z.literal('renotify'),
    topicId: id,
    from: z.number(),
    to: z.number(),
    after: z.number().nullable(),
    request: id,
  }),
  z.object({
    kind: z.literal('send'),
    messageId: id,
    topicId: id,
    platform: z.enum(platforms).exactOptional(),
    isUrgent: z.boolean().exactOptional(),
    targets: z.array(target).min(1),
    page: page.optional(),
    round: z.number().int().min(1),
    giveUpAt: z.number(),
  }),
  z.object({ kind: z.literal('test'), deviceId: id, requestedAt: z.number().exactOptional() }),
  z.object({
    kind: z.literal('replace'),
    messageId: id,
    topicId: id,
    changedAt: z.number(),
    pageIndex: z.number().int().min(0).optional(),
    after: id.nullable(),
    deviceIds: z.array(id).optional(),
    round: z.number().optional(),
  }),
  z.object({
    kind: z.literal('acknowledged'),
    messageId: id,
    topicId: id,
    acknowledgedAt: z.number(),
    pageIndex: z.number().int().min(0),
    after: id.nullable(),
    deviceIds: z.array(id).optional(),
    round: z.number().optional(),
  }),
  z.object({
    kind: z.literal('summary'),
    subscriptionId: id,
    of: z.discriminatedUnion('why', [
      z.object({ why: z.literal('quiet_hours'), from: z.number(), to: z.number(), priorityMax: z.number() }),
      z.object({ why: z.literal('max_per_minute'), to: z.number(), limit: z.number() }),
    ]),
    deviceIds: z.array(id).optional(),
    round: z.number().optional(),
  }),
  z.object({
    kind: z.literal('receipts'),
    messageId: id,
    topicId: id,
    platform: z.enum(platforms),
    page: page.optional(),
    sentAt: z.number(),
    pushes: z.array(target.extend({ ticket: id })).min(1),
  }),
]);

/** Validates a job. Throws Discard if it is invalid, because a retry cannot help. */
export function parsePushJob(data: JobData): PushJob {
  const parsed = pushJob.safeParse(data);
  if (!parsed.success) throw new Discard('not a push job', parsed.error);
  return parsed.data;
}
