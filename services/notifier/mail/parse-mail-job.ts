import type { MailJob } from '@tocsin/shared/domain/accounts/mail-job.ts';
import { Discard, type JobData } from '@tocsin/shared/ports/job-queue.ts';
import { z } from 'zod';

const id = z.string().min(1);

const mailJob: z.ZodType<MailJob> = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('verify-email'), userId: id, registrationId: id.exactOptional() }),
  z.object({ kind: z.literal('password-reset'), userId: id }),
  z.object({ kind: z.literal('address-changed'), addressChangeId: id }),
  z.object({ kind: z.literal('team-invite'), inviteId: id }),
  z.object({ kind: z.enum(['team-lapse', 'team-removal']), userId: id }),
  z.object({ kind: z.literal('sink-paused'), sinkId: id }),
  z.object({ kind: z.literal('password-changed'), userId: id, at: z.int() }),
  z.object({ kind: z.literal('api-key-created'), apiKeyId: id }),
  z.object({ kind: z.literal('identity-linked'), identityId: id }),
  z.object({ kind: z.literal('new-login'), sessionId: id }),
]);

/** Validates a job. Throws Discard if it is invalid, because a retry cannot help. */
export function parseMailJob(data: JobData): MailJob {
  const parsed = mailJob.safeParse(data);
  if (!parsed.success) throw new Discard('not an email job', parsed.error);
  return parsed.data;
}
