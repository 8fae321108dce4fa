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
 * Prevents flooding a mailbox: the emails of each requester while the mailbox got fewer than `everyone`. The first ones
 * have a higher total, so that strangers cannot use up the emails of the owner with few addresses.
 */
const mailsPerHour = [
  { share: 'first', requester: 2, everyone: 100 },
  { share: 'further', requester: 3, everyone: 20 },
] as const;

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
 * requester, of which the last three only while the address got fewer than 20 in total, and 100 in total.
 */
export async function takeMailBudget(deps: RequestMailDeps, to: MailTo, kind: MailKind): Promise<boolean> {
  if (!deps.config.RATE_LIMITS) return true;
  const total = `mail:{${hashSecret(`${kind} ${to.email}`)}}`;
  const ofRequester = `${total}:${hashSecret(to.requester)}`;
  const span = { lengthMs: 3_600_000 };
  for (const { share, requester, everyone } of mailsPerHour) {
    const windows = [
      { key: `${ofRequester}:${share}`, limit: requester, span },
      { key: total, limit: everyone, span },
    ];
    if ((await deps.engine.bus.takeBudget(windows, deps.clock())).accepted) return true;
  }
  deps.log.warn({ kind }, 'email not sent: the address received too many of this kind within an hour');
  return false;
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
