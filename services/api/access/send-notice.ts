import type { MailJob } from '@tocsin/shared/domain/accounts/mail-job.ts';
import { requestMail, type RequestMailDeps } from '@tocsin/shared/runtime/request-mail.ts';

/** Emails a notice of something that happened to the account. It happened, so a failure is only logged. */
export async function sendNotice(deps: RequestMailDeps, email: string, job: MailJob): Promise<void> {
  try {
    await requestMail(deps, { email, requester: email }, job);
  } catch (error) {
    deps.log.warn({ err: error, kind: job.kind }, 'could not enqueue an email');
  }
}
