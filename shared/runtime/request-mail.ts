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

/**
 * Prevents flooding a mailbox: the maximum per requester, so that a stranger does not use up the emails of the owner,
 * and the maximum of all requesters.
 */
const mailsPerHour = { requester: 5, everyone: 20 } as const;

/** The recipient and the requester: a client address or the ID of an account. */
export interface MailTo {
  readonly email: string;
  readonly requester: string;
}

/**
 * Enqueues an email for the notifier. If the address has reached its limit, silently does nothing, so that responses
 * reveal nothing about the mailbox. Throws `unavailable` if the queue is unreachable.
 */
export async function requestMail(deps: RequestMailDeps, to: MailTo, job: MailJob): Promise<void> {
  if (await takeMailBudget(deps, to, job.kind)) await addMail(deps, job);
}

/**
 * Counts an email of this kind to the address, and returns whether it may be sent: at most five of a kind per hour and
 * requester, and 20 in total.
 */
export async function takeMailBudget(deps: RequestMailDeps, to: MailTo, kind: MailKind): Promise<boolean> {
  if (!deps.config.RATE_LIMITS) return true;
  const everyone = `mail:{${hashSecret(`${kind} ${to.email}`)}}`;
  const span = { lengthMs: 3_600_000 };
  const windows = [
    { key: `${everyone}:${hashSecret(to.requester)}`, limit: mailsPerHour.requester, span },
    { key: everyone, limit: mailsPerHour.everyone, span },
  ];
  const { accepted } = await deps.engine.bus.takeBudget(windows, deps.clock());
  if (!accepted) deps.log.warn({ kind }, 'email not sent: the address received too many of this kind within an hour');
  return accepted;
}

/**
 * Enqueues an email without a limit. Does nothing if an email with this `id` was added within a day. Throws
 * `unavailable` if the queue is unreachable.
 */
export async function addMail(
  deps: Pick<RequestMailDeps, 'engine' | 'makeId'>,
  job: MailJob,
  id = deps.makeId(),
): Promise<void> {
  await deps.engine.jobQueue.add(mailQueue, [{ id, data: { ...job }, ...mailAttempts }]);
}
