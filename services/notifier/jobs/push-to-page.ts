import { ledgerMs, undeliveredStatuses } from '@tocsin/shared/ports/deliveries.ts';
import { pageQueueOf, pageJob, type PageJob } from '@tocsin/shared/domain/push/push-job.ts';
import { isPushedTo } from '@tocsin/shared/domain/push/push-filter.ts';
import type { Span } from '@tocsin/shared/runtime/tracing/tracing.ts';
import { loadPush } from '../sending/load-push.ts';
import { pageSizeOf } from './page-size-of.ts';
import { missedRecipients } from './missed-recipients.ts';
import type { PushDeps } from '../sending/push-deps.ts';
import { pushToRecipients } from '../sending/push-to-recipients.ts';

/**
 * Pushes a message to a page of its topic's recipients. Stores the next page's job first, so that pages run
 * concurrently and none is lost with this one. Idempotent, because the ledger records sent pushes. A replay only
 * considers devices that missed the message, and none if the ledger no longer covers it.
 */
export async function pushToPage(deps: PushDeps, job: PageJob): Promise<void> {
  const { messageId, topicId } = job;
  return deps.tracing.span(
    {
      name: 'push page',
      kind: 'internal',
      attributes: { 'tocsin.message.id': messageId, 'tocsin.topic.id': topicId },
    },
    (span) => pushToRecipientsOf(deps, job, span),
  );
}

async function pushToRecipientsOf(deps: PushDeps, job: PageJob, span: Span): Promise<void> {
  // A page that has begun reaches all its recipients, even if it takes longer than the repeat's interval.
  const isReplaceable = job.page !== undefined && job.after === null;
  const push = await loadPush(deps, { ...job, isReplaceable });
  if ('over' in push) return deps.log.debug({ messageId: job.messageId, reason: push.over }, 'nothing is pushed');
  const { message, topic } = push;
  const isRenotify = job.renotify !== undefined;
  if (isRenotify && message.timestamp + ledgerMs <= deps.clock()) return;
  const page = await deps.engine.deliveries.recipients(
    { topicId: topic.id, message },
    { after: job.after, limit: pageSizeOf(deps.limits, job.after) },
  );
  span.set({ 'tocsin.recipients': page.recipients.length });
  if (page.next !== null) {
    const next = pageJob(
      {
        messageId: message.id,
        topicId: topic.id,
        after: page.next,
        publishedAt: job.publishedAt,
        renotify: job.renotify,
        page: job.page,
      },
      message.priority,
    );
    await deps.engine.jobQueue.add(pageQueueOf(message.priority), [next]);
  }
  const wanted = page.recipients.map((recipient) => ({
    ...recipient,
    devices: recipient.devices.filter(({ platform }) => isPushedTo(recipient.settings, platform)),
  }));
  const recipients = isRenotify ? await missedRecipients(deps.engine.deliveries, message, wanted) : wanted;
  await pushToRecipients(deps, push, recipients, {
    round: 0,
    giveUpAt: null,
    again: isRenotify ? undeliveredStatuses : [],
  });
}
