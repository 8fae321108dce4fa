import type { Device } from '@tocsin/shared/domain/device.ts';
import { pushQueues, summaryJob, type SummaryJob } from '@tocsin/shared/domain/push-job.ts';
import type { Subscription } from '@tocsin/shared/domain/subscription.ts';
import type { Topic } from '@tocsin/shared/domain/topic.ts';
import { devices } from '@tocsin/shared/stores/devices-collection.ts';
import { subscriptions } from '@tocsin/shared/stores/subscriptions-collection.ts';
import { topics } from '@tocsin/shared/stores/topics.ts';
import { findReaders } from './find-readers.ts';
import { countOfMinute } from './hold-back.ts';
import type { PushDeps } from './push-deps.ts';
import type { PushRequest } from './push-gateways/push-gateway.ts';
import { retireDevice } from './retire-device.ts';

/** A day later nobody wants to know how many came in a night, and an hour later how many there were in a minute. */
const lifetimeMs = { quiet_hours: 24 * 3_600_000, max_per_minute: 3_600_000 } as const;

/** Beyond some minutes of tries it is old news. */
const roundsMax = 6;

/** More devices than a user can have. */
const devicesMax = 1_000;

/**
 * Pushes how many messages were held back from a subscriber, under the settings and rights that stand now. It has no row
 * in the ledger, being no message; the messages themselves do. One that a provider puts off is tried again some times;
 * pushed twice it is seen once, and of a flood the newest count replaces the one before.
 */
export async function pushSummary(deps: PushDeps, job: SummaryJob): Promise<void> {
  const found = await loadSubscription(deps, job);
  if (found === null) return;
  const { subscription, topic } = found;
  const count = await countHeldBack(deps, job, subscription);
  if (count === 0) return;
  const owned = await deps.engine.documents.find(devices, { index: 'byUser', equals: { userId: subscription.userId }, limit: devicesMax });
  const again: string[] = [];
  for (const device of owned.filter(({ id, isActive }) => isActive && (job.deviceIds?.includes(id) ?? true))) {
    const outcome = await pushTo(deps, device, requestFor(deps, job, { subscription, topic, device, count }));
    if (outcome === 'accepted') deps.notifiedTimes.add(subscription.id, deps.clock());
    else if (outcome === 'again') again.push(device.id);
  }
  const { kind: _, round = 0, ...asked } = job;
  if (again.length === 0 || round >= roundsMax) return;
  const now = deps.clock();
  await deps.engine.jobQueue.add(pushQueues.normal, [summaryJob({ ...asked, deviceIds: again, round: round + 1 }, { at: now + deps.limits.backoffMs * 2 ** round, now })]);
}

/** Null when the subscriber wants none any more, or may not know of the topic. */
async function loadSubscription({ engine: { documents } }: PushDeps, job: SummaryJob): Promise<{ subscription: Subscription; topic: Topic } | null> {
  const subscription = await documents.get(subscriptions, job.subscriptionId);
  if (subscription === null || !subscription.mobileEnabled) return null;
  const topic = await documents.get(topics, subscription.topicId);
  if (topic === null) return null;
  return (await findReaders(documents, topic, [subscription.userId])).has(subscription.userId) ? { subscription, topic } : null;
}

/** A night's are counted from the messages, so that nothing has to be kept for it; those deleted meanwhile are not told of. */
async function countHeldBack(deps: PushDeps, { of }: SummaryJob, subscription: Subscription): Promise<number> {
  if (of.why === 'max_per_minute') return Math.max(await countOfMinute(deps, subscription.id, of.to) - of.limit, 0);
  const { topicId, priorityThreshold, tagsFilter, createdAt } = subscription;
  if (of.priorityMax < priorityThreshold) return 0;
  const counts = await deps.engine.messages.activity({
    topicIds: [topicId], text: null, priorityMin: priorityThreshold, priorityMax: of.priorityMax,
    tags: tagsFilter.filter((tag) => !tag.includes(',')), from: Math.max(of.from, createdAt), to: of.to - 1, includesDeleted: false, now: deps.clock(),
  }, of.to - of.from);
  return counts.reduce((sum, { count }) => sum + count, 0);
}

function requestFor(
  deps: PushDeps, { of: { why }, subscriptionId }: SummaryJob,
  { subscription, topic, device, count }: { subscription: Subscription; topic: Topic; device: Device; count: number },
): PushRequest {
  const many = count === 1 ? '1 message' : `${count} messages`;
  return {
    pushToken: device.pushToken,
    content: {
      title: topic.name,
      body: why === 'quiet_hours' ? `${many} came in quiet hours` : `${count} more in ${topic.name}`,
      data: { summary: why, count, topic: topic.name, topic_id: topic.id },
    },
    sound: subscription.soundEnabled && why === 'quiet_hours' ? subscription.notificationSound : null,
    vibrates: subscription.vibrateEnabled && why === 'quiet_hours',
    isUrgent: false,
    collapseId: `${why}.${subscriptionId}`,
    expiresAt: deps.clock() + lifetimeMs[why],
  };
}

async function pushTo(deps: PushDeps, device: Device, request: PushRequest): Promise<'accepted' | 'again' | 'over'> {
  const gateway = deps.gateways.get(device.platform);
  if (gateway === undefined) return 'over';
  const result = (await gateway.send([request]))[0]!;
  switch (result.kind) {
    case 'accepted':
      return 'accepted';
    case 'retry':
    case 'unknown':
      return 'again';
    case 'dead-token':
      await retireDevice(deps, device.id, { pushToken: device.pushToken, since: result.since, isDoubtful: result.isDoubtful });
      return 'over';
    case 'rejected':
      deps.log.warn({ deviceId: device.id, reason: result.reason }, 'a push that says how many messages came was refused');
      return 'over';
  }
}
