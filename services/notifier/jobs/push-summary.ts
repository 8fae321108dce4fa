import { isPushedTo, pushedMessages } from '@tocsin/shared/domain/push/push-filter.ts';
import { digestPriorityMax } from '@tocsin/shared/domain/push/digest.ts';
import { pushQueues, summaryJob, type SummaryJob } from '@tocsin/shared/domain/push/push-job.ts';
import type { Subscription } from '@tocsin/shared/domain/push/subscription.ts';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import { findOwnDevices } from '@tocsin/shared/operations/push/find-own-devices.ts';
import { subscriptions } from '@tocsin/shared/collections/subscriptions-collection.ts';
import { topics } from '@tocsin/shared/collections/topics.ts';
import { findReaders } from '@tocsin/shared/operations/topics/find-readers.ts';
import { countOf, lateWindow, minuteWindow } from '../sending/hold-back.ts';
import type { PushDeps } from '../sending/push-deps.ts';
import type { PushRequest } from '../providers/push-gateway.ts';
import { nextRound, sendUnrecorded } from '../sending/send-unrecorded.ts';
import { unreadBadges } from '../sending/unread-badges.ts';

/** Summaries expire: after a day for quiet hours, after an hour for the limit per minute. */
const lifetimeMs = { quiet_hours: 24 * 3_600_000, max_per_minute: 3_600_000 } as const;

/**
 * Pushes the number of messages held back from a subscriber, using current settings and access rights. A summary has no
 * row in the ledger, because it is not a message. It is retried several times after temporary errors of the provider;
 * duplicates collapse on the device, and a newer count replaces the previous one.
 */
export async function pushSummary(deps: PushDeps, job: SummaryJob): Promise<void> {
  const found = await loadSubscription(deps, job);
  if (found === null) return;
  const { subscription, topic } = found;
  const count = await countHeldBack(deps, job, subscription);
  if (count === 0) return;
  const owned = await findOwnDevices(deps.engine.documents, subscription.userId);
  const wanted = owned.filter(
    ({ id, isActive, platform }) =>
      isActive && isPushedTo(subscription, platform) && (job.deviceIds?.includes(id) ?? true),
  );
  const badges = subscription.badge === 'none' ? null : await unreadBadges(deps, [subscription.userId]);
  const badge = badges?.get(subscription.userId) ?? null;
  const push = summaryPush(job, { subscription, topic, count, badge, now: deps.clock() });
  const { accepted, again } = await sendUnrecorded(deps, wanted, () => push);
  if (accepted.length > 0) deps.notifiedTimes.add(subscription.id, deps.clock());
  const { kind: _, ...asked } = job;
  const next = nextRound(deps, job.round);
  if (again.length === 0 || next === null) return;
  const now = deps.clock();
  await deps.engine.jobQueue.add(pushQueues.normal, [
    summaryJob({ ...asked, deviceIds: again, round: next.round }, { at: now + next.delayMs, now }),
  ]);
}

/** Null if the subscriber no longer wants summaries or may not read the topic. */
async function loadSubscription(
  { engine: { documents } }: PushDeps,
  job: SummaryJob,
): Promise<{ subscription: Subscription; topic: Topic } | null> {
  const subscription = await documents.get(subscriptions, job.subscriptionId);
  if (subscription === null || !(subscription.mobileEnabled || subscription.webEnabled)) return null;
  const topic = await documents.get(topics, subscription.topicId);
  if (topic === null) return null;
  return (await findReaders(documents, topic, [subscription.userId])).has(subscription.userId)
    ? { subscription, topic }
    : null;
}

/**
 * Counts messages published in quiet hours in the store, where deleted ones do not count, and adds those from before
 * whose push fell into the quiet hours.
 */
async function countHeldBack(deps: PushDeps, { of }: SummaryJob, subscription: Subscription): Promise<number> {
  if (of.why === 'max_per_minute')
    return Math.max((await countOf(deps, minuteWindow(subscription.id, of.to))) - of.limit, 0);
  const span = { from: Math.max(of.from, subscription.createdAt), to: of.to - 1, now: deps.clock() };
  // The digest contains the others.
  const priorityThreshold =
    subscription.digest === null
      ? subscription.priorityThreshold
      : Math.max(subscription.priorityThreshold, digestPriorityMax + 1);
  const passing = pushedMessages(subscription.topicId, { ...subscription, priorityThreshold }, span);
  const late = await countOf(deps, lateWindow(subscription.id, of.to));
  if (passing === null || of.priorityMax < priorityThreshold) return late;
  const counts = await deps.engine.messages.activity({ ...passing, priorityMax: of.priorityMax }, of.to - of.from);
  return counts.reduce((sum, { count }) => sum + count, late);
}

function summaryPush(
  { of: { why }, subscriptionId }: SummaryJob,
  {
    subscription,
    topic,
    count,
    badge,
    now,
  }: { subscription: Subscription; topic: Topic; count: number; badge: number | null; now: number },
): Omit<PushRequest, 'pushToken'> {
  const many = count === 1 ? '1 message' : `${count} messages`;
  // A flood has already made a sound.
  const isHeard = why === 'quiet_hours';
  return {
    content: {
      title: topic.name,
      body: why === 'quiet_hours' ? `${many} came in quiet hours` : `${count} more in ${topic.name}`,
      category: null,
      data: { summary: why, count, topic: topic.name, topic_id: topic.id },
    },
    level: isHeard ? 'default' : 'low',
    sound: isHeard && subscription.soundEnabled ? subscription.notificationSound : null,
    vibrates: isHeard && subscription.vibrateEnabled,
    badge,
    collapseId: `${why}.${subscriptionId}`,
    expiresAt: now + lifetimeMs[why],
  };
}
