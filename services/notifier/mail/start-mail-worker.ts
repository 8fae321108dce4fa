import { mailQueue, type MailJob } from '@tocsin/shared/domain/accounts/mail-job.ts';
import { teamPeriodsOf } from '@tocsin/shared/domain/teams/team-lifecycle.ts';
import type { Clock } from '@tocsin/shared/platform/clock.ts';
import type { MakeId } from '@tocsin/shared/platform/ids.ts';
import { withClosers } from '@tocsin/shared/platform/lifecycle.ts';
import type { Config } from '@tocsin/shared/platform/load-config.ts';
import type { Logger } from '@tocsin/shared/platform/logger.ts';
import type { Documents } from '@tocsin/shared/ports/documents.ts';
import type { JobQueue } from '@tocsin/shared/ports/job-queue.ts';
import { join } from 'node:path';
import { composeMail, type ComposeMailDeps } from './compose-mail.ts';
import type { Mailer } from './mailer.ts';
import { parseMailJob } from './parse-mail-job.ts';

/** Concurrent emails: few, because mail servers treat many connections as abuse. */
const concurrency = 4;

export interface MailWorkerOptions {
  readonly jobQueue: JobQueue;
  readonly documents: Documents;
  readonly config: Pick<Config, 'SMTP_URL' | 'MAIL_FROM' | 'DATA_DIR' | 'TEAM_GRACE_DAYS' | 'TEAM_REMOVAL_DAYS'>;
  readonly baseUrl: string;
  readonly appUrl: string;
  readonly log: Logger;
  readonly clock: Clock;
  readonly makeId: MakeId;
}

/** Starts sending the emails of the queue, over SMTP_URL or to files. `close` waits for running sends. */
export function startMailWorker(options: MailWorkerOptions): Promise<{ close(): Promise<void> }> {
  return withClosers(async (own) => {
    const mailer = laterMailer(options);
    own.add(() => mailer.close());
    const worker = await options.jobQueue.work(mailQueue, {
      concurrency,
      run: (job) =>
        sendMail({ ...options, mailer, teamPeriods: teamPeriodsOf(options.config) }, parseMailJob(job.data)),
    });
    own.add(() => worker.close());
    return { close: () => own.closeAll() };
  });
}

/** Opened at the first email, because the library of mailers takes several megabytes. */
function laterMailer(options: MailWorkerOptions): Mailer {
  let opened: Promise<Mailer> | undefined;
  return {
    async send(kind, mail) {
      await (await (opened ??= openMailer(options))).send(kind, mail);
    },
    async close() {
      await (await opened)?.close();
    },
  };
}

async function openMailer({ config, clock, log }: MailWorkerOptions): Promise<Mailer> {
  const from = config.MAIL_FROM;
  if (config.SMTP_URL === undefined) {
    const { openFileMailer } = await import('./file-mailer.ts');
    return openFileMailer({ folder: join(config.DATA_DIR, 'mail'), from, clock, log });
  }
  const { openSmtpMailer } = await import('./smtp-mailer.ts');
  return openSmtpMailer({ url: config.SMTP_URL, from, connections: concurrency });
}

/**
 * Sends the job's email at least once: if the mail server's response is lost, the email is sent again with a new
 * token, and only the latest link works.
 */
async function sendMail(deps: ComposeMailDeps & { mailer: Mailer; log: Logger }, job: MailJob): Promise<void> {
  const mail = await composeMail(deps, job);
  if (mail === null) return;
  await deps.mailer.send(job.kind, mail);
  deps.log.debug({ kind: job.kind }, 'email sent');
}
