import type { MailJob } from '@tocsin/shared/domain/accounts/mail-job.ts';
import { Discard, type JobData } from '@tocsin/shared/ports/job-queue.ts';
import { z } from 'zod';

const id = z.string().min(1);

const mailJob: z.ZodType<MailJob> = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('verify-email'), userId: id }),
  z.object({ kind: z.literal('password-reset'), userId: id }),
  z.object({ kind: z.literal('address-changed'), addressChangeId: id }),
  z.object({ kind: z.literal('team-invite'), inviteId: id }),
  z.object({ kind: z.enum(['team-lapse', 'team-removal']), userId: id }),
]);

/** The job, checked. Throws Discard for what is none: it would be none the next time as well. */
export function parseMailJob(data: JobData): MailJob {
  const parsed = mailJob.safeParse(data);
  if (!parsed.success) throw new Discard('not a mail job', parsed.error);
  return parsed.data;
}
