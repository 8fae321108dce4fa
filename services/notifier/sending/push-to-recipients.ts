import { ledgerKey } from '@tocsin/shared/domain/escalation/ledger-key.ts';
import type { Platform } from '@tocsin/shared/domain/push/device.ts';
import type { Claim, Outcome, Recipient, RecipientDevice } from '@tocsin/shared/ports/deliveries.ts';
import { RetryLater } from '@tocsin/shared/ports/job-queue.ts';
import { currentRecipients, currentSettings } from './current-recipients.ts';
import { readersAmong } from '@tocsin/shared/operations/topics/find-readers.ts';
import { collectForDigests } from './collect-for-digests.ts';
import { holdBack } from './hold-back.ts';
import { ledgerRows } from './ledger-rows.ts';
import { loadPush, type Push } from './load-push.ts';
import type { PushDeps } from './push-deps.ts';
import { recordOutcomes } from './record-outcomes.ts';
import { pushIdsOf, sendPush, type Attempt, type PushResults, type PushTarget, type Sending } from './send-push.ts';
import { unreadBadges } from './unread-badges.ts';

/**
 * A page at a slow provider can take minutes; without a new check, users who lost access or a device's next owner would
 * get pushes.
 */
const ageMsMax = 10_000;

/**
 * Pushes to all devices of the recipients: looks up who may still read the topic, records skips, and sends the rest in
 * batches per provider: sequentially per provider, so that a crash leaves at most one batch per provider with an
 * unknown outcome, and providers concurrently, so that a slow one does not delay others. Throws RetryLater if devices
 * are claimed by a worker that may have died, or if the service is closing.
 */
export async function pushToRecipients(
  deps: PushDeps,
  push: Push,
  recipients: readonly Recipient[],
  attempt: Attempt,
): Promise<PushResults> {
  const { skips, targets } = await planPush(deps, push, { recipients, attempt });
  if (skips.length > 0) await recordOutcomes(deps, skips);
  // Waits for all, even if one fails: otherwise the rest would run concurrently with the job's next run.
  const settled = await Promise.allSettled(
    [...targets].map(([platform, ofPlatform]) =>
      pushToPlatform(deps, { push, gateway: deps.gateways.get(platform)!, platform, attempt }, ofPlatform),
    ),
  );
  const results = settled.map((one) => {
    if (one.status === 'rejected') throw one.reason;
    return one.value;
  });
  const unclaimed = results.flatMap((one) => one.unclaimed);
  await waitForHeld(deps, ledgerKey(push.message.id, push.page), unclaimed);
  return { unclaimed, exhausted: results.reduce((sum, one) => sum + one.exhausted, 0) };
}

async function pushToPlatform(deps: PushDeps, sending: Sending, targets: readonly PushTarget[]): Promise<PushResults> {
  const { batchSizeMax } = sending.gateway;
  const unclaimed: string[] = [];
  let exhausted = 0;
  for (let start = 0; start < targets.length; start += batchSizeMax) {
    if (deps.closing.aborted) throw new RetryLater(0, 'the notifier is closing');
    const batch = targets.slice(start, start + batchSizeMax);
    const isOld = start > 0 && deps.clock() - sending.push.readAt > ageMsMax;
    const results = await (isOld ? pushAnew : sendPush)(deps, sending, batch);
    unclaimed.push(...results.unclaimed);
    exhausted += results.exhausted;
  }
  return { unclaimed, exhausted };
}

/** Checks the targets again, like a retry, and pushes to those that remain. */
async function pushAnew(deps: PushDeps, sending: Sending, targets: readonly PushTarget[]): Promise<PushResults> {
  const { platform, attempt } = sending;
  const push = await loadPush(deps, pushIdsOf(sending));
  if ('over' in push) return sendPush(deps, sending, targets);
  const claims = targets.map(({ claim }) => claim);
  const { recipients, dropped } = currentRecipients(push, await currentSettings(deps, claims), claims);
  const drops = [...dropped].flatMap(([reason, deviceIds]) =>
    claims
      .filter(({ deviceId }) => deviceIds.has(deviceId))
      .map((claim): Outcome => ({ ...claim, status: 'skipped', reason })),
  );
  const plan = await planPush(deps, push, { recipients, attempt });
  await recordOutcomes(deps, [...drops, ...plan.skips]);
  return sendPush(deps, { ...sending, push }, plan.targets.get(platform) ?? []);
}

async function planPush(
  deps: PushDeps,
  push: Push,
  { recipients, attempt }: { recipients: readonly Recipient[]; attempt: Attempt },
): Promise<{ skips: Outcome[]; targets: Map<Platform, PushTarget[]> }> {
  const { message, topic, page } = push;
  const key = ledgerKey(message.id, page);
  const withDevices = recipients.filter(({ devices }) => devices.length > 0);
  const activeIds = await deps.reads.active(new Set(withDevices.map(({ userId }) => userId)));
  const readers = readersAmong(activeIds, topic, await deps.reads.teamRoles(topic));
  const isReachable = ({ platform }: RecipientDevice): boolean => deps.gateways.has(platform);
  const reached = withDevices.filter(({ userId, devices }) => readers.has(userId) && devices.some(isReachable));
  const collected = await collectForDigests(deps, push, reached, attempt);
  const immediate = reached.filter(({ subscriptionId }) => !collected.has(subscriptionId));
  const heldBack = await holdBack(deps, push, immediate, attempt);
  const isLate = deps.clock() - message.timestamp > deps.limits.badgeAgeMsMax;
  const counted = isLate ? [] : immediate.filter((one) => !heldBack.has(one.subscriptionId) && hasBadge(one));
  const badges = await unreadBadges(
    deps,
    counted.map(({ userId }) => userId),
  );
  const skips: Outcome[] = [];
  const targets = new Map<Platform, PushTarget[]>();
  for (const recipient of withDevices) {
    for (const device of recipient.devices) {
      const claim = claimOf(key, topic.id, recipient, device);
      const reason = !readers.has(recipient.userId)
        ? 'no access'
        : !isReachable(device)
          ? 'not configured'
          : (heldBack.get(recipient.subscriptionId) ?? null);
      if (reason === null && collected.has(recipient.subscriptionId)) continue;
      if (reason !== null) {
        skips.push({ ...claim, status: 'skipped', reason });
        continue;
      }
      const ofPlatform = targets.get(device.platform) ?? [];
      targets.set(device.platform, ofPlatform);
      ofPlatform.push({
        claim,
        pushToken: device.pushToken,
        isDoubted: device.doubtedAt !== null,
        settings: recipient.settings,
        badge: badges.get(recipient.userId) ?? null,
      });
    }
  }
  return { skips, targets };
}

/** Browsers have no badge. */
function hasBadge({ settings, devices }: Recipient): boolean {
  return settings.badge !== 'none' && devices.some(({ platform }) => platform !== 'web');
}

function claimOf(messageId: string, topicId: string, recipient: Recipient, device: RecipientDevice): Claim {
  const { userId, subscriptionId } = recipient;
  return { messageId, deviceId: device.id, topicId, userId, subscriptionId, platform: device.platform };
}

/**
 * A push that could not be claimed is done, has its own job, or has a valid claim: of
 * a worker that is sending it now, or of one that died. The latter must be retried:
 * throws RetryLater in this case.
 */
export async function waitForHeld(deps: PushDeps, key: string, unclaimed: readonly string[]): Promise<void> {
  for await (const rows of ledgerRows(deps.engine.deliveries, key, unclaimed)) {
    const held = rows.filter(({ status }) => status === 'pending');
    if (held.length === 0) continue;
    const staleAt = Math.max(...held.map(({ updatedAt }) => updatedAt)) + deps.limits.claimStaleMs;
    throw new RetryLater(
      Math.max(staleAt - deps.clock(), 0) + 100,
      `${held.length} pushes are claimed by another worker`,
    );
  }
}
