import { mailAttempts, mailQueue, type MailJob, type MailKind } from '../domain/accounts/mail-job.ts';
import type { Clock } from '../platform/clock.ts';
import type { MakeId } from '../platform/ids.ts';
import type { Config } from '../platform/load-config.ts';
import type { Logger } from '../platform/logger.ts';
import { hashSecret } from '../platform/secrets.ts';
import type { Engine } from '../ports/engine.ts';

export interface RequestMailDeps {
  readonly engine: Pick<Engine, 'bus' | 'jobQueue'>;
  readonly config: Pick<Config, 'RATE_LIMITS'>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly makeId: MakeId;
}

/** Harm prevented: Tocsin as a means to fill somebody's mailbox. */
const mailsPerHour = 5;

/**
 * Has a mail sent by the notifier, unless its address got too many: then nothing is sent and the caller is told nothing,
 * so that an answer never tells what the mailbox got. Throws `unavailable` when the queue cannot be reached.
 */
export async function requestMail(deps: RequestMailDeps, address: string, job: MailJob): Promise<void> {
  if (await mayMail(deps, address, job.kind)) await addMail(deps, job);
}

/** Whether a mail of the kind may go to the address; counts it. At most five of a kind within an hour. */
export async function mayMail(deps: RequestMailDeps, address: string, kind: MailKind): Promise<boolean> {
  if (!deps.config.RATE_LIMITS) return true;
  const window = {
    key: `mail:{${hashSecret(`${kind} ${address}`)}}`,
    limit: mailsPerHour,
    span: { lengthMs: 3_600_000 },
  };
  const { accepted } = await deps.engine.bus.takeBudget([window], deps.clock());
  if (!accepted) deps.log.warn({ kind }, 'a mail was not sent: its address got five of this kind within an hour');
  return accepted;
}

/**
 * Adds the job of a mail that may be sent. With the `id` of a mail that was added within a day nothing happens. Throws
 * `unavailable` when the queue cannot be reached.
 */
export async function addMail(
  deps: Pick<RequestMailDeps, 'engine' | 'makeId'>,
  job: MailJob,
  id = deps.makeId(),
): Promise<void> {
  await deps.engine.jobQueue.add(mailQueue, [{ id, data: { ...job }, ...mailAttempts }]);
}
