import type { StepJob } from '@tocsin/shared/domain/push/push-job.ts';
import { defaultMobileSettings } from '@tocsin/shared/domain/push/subscription.ts';
import { findOwnDevices } from '@tocsin/shared/operations/push/find-own-devices.ts';
import { listStepUsers } from '@tocsin/shared/operations/escalation/step-targets.ts';
import type { Documents } from '@tocsin/shared/ports/documents.ts';
import { smallPageSize, type Recipient } from '@tocsin/shared/ports/deliveries.ts';
import { subscriptions } from '@tocsin/shared/collections/subscriptions-collection.ts';
import { loadPush } from '../sending/load-push.ts';
import type { PushDeps } from '../sending/push-deps.ts';
import { pushToRecipients } from '../sending/push-to-recipients.ts';

/** The ledger's subscription of a user without one. */
const noSubscription = 'none';

/**
 * Pushes the message to all active devices of the step's users, whatever their filters say. Users without access get a
 * row in the ledger that says so. Idempotent, because the ledger records sent pushes.
 */
export async function pushStep(deps: PushDeps, { messageId, topicId, page }: StepJob): Promise<void> {
  const push = await loadPush(deps, { messageId, topicId, page, isReplaceable: false });
  if ('over' in push) return deps.log.debug({ messageId, reason: push.over }, 'the step is not taken');
  const to = push.topic.escalation?.steps[page.number - 1]?.to;
  if (to?.kind !== 'users') return;
  const { documents } = deps.engine;
  const userIds = await listStepUsers(documents, push.topic, to);
  for (let at = 0; at < userIds.length; at += smallPageSize) {
    const recipients = await Promise.all(
      userIds.slice(at, at + smallPageSize).map((userId) => findRecipient(documents, userId, topicId)),
    );
    await pushToRecipients(deps, push, recipients, { round: 0, giveUpAt: null, again: [] });
  }
}

async function findRecipient(documents: Documents, userId: string, topicId: string): Promise<Recipient> {
  const [devices, [subscription]] = await Promise.all([
    findOwnDevices(documents, userId),
    documents.find(subscriptions, { index: 'userTopic', equals: { userId, topicId }, limit: 1 }),
  ]);
  return {
    subscriptionId: subscription?.id ?? noSubscription,
    userId,
    subscribedAt: subscription?.createdAt ?? 0,
    settings: subscription ?? defaultMobileSettings,
    devices: devices.filter(({ isActive }) => isActive),
  };
}
