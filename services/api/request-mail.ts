import { mailAttempts, mailQueue, type MailJob } from '@tocsin/shared/domain/mail-job.ts';
import { hashSecret } from '@tocsin/shared/platform/secrets.ts';
import type { ApiDeps } from './api-deps.ts';

/** Harm prevented: Tocsin as a means to fill somebody's mailbox. */
const mailsPerHour = 5;

/**
 * Has a mail sent by the notifier. At most five of a kind go to one address within an hour; beyond that nothing is sent
 * and the caller is told nothing, so that an answer never tells what the mailbox got.
 * Throws `unavailable` when the queue cannot be reached.
 */
export async function requestMail(deps: ApiDeps, address: string, job: MailJob): Promise<void> {
  const { bus, jobQueue } = deps.engine;
  if (deps.config.RATE_LIMITS) {
    const window = { key: `mail:{${hashSecret(`${job.kind} ${address}`)}}`, limit: mailsPerHour, span: { lengthMs: 3_600_000 } };
    const state = await bus.takeBudget([window], deps.clock());
    if (!state.accepted) {
      deps.log.warn({ kind: job.kind }, 'a mail was not sent: its address got five of this kind within an hour');
      return;
    }
  }
  await jobQueue.add(mailQueue, [{ id: deps.makeId(), data: { ...job }, ...mailAttempts }]);
}
