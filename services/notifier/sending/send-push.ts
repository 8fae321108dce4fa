import type { Platform } from '@tocsin/shared/domain/push/device.ts';
import {
  isUrgent,
  pushQueueOf,
  receiptsJob,
  receiptsQueue,
  sendJob,
  type PushTargetIds,
} from '@tocsin/shared/domain/push/push-job.ts';
import { isUnavailable } from '@tocsin/shared/domain/errors.ts';
import type { MobileSettings } from '@tocsin/shared/domain/push/subscription.ts';
import type { Claim, Outcome, RevivableStatus } from '@tocsin/shared/ports/deliveries.ts';
import { RetryLater } from '@tocsin/shared/ports/job-queue.ts';
import { expirePushes } from './expire-pushes.ts';
import { loadPush, type Push } from './load-push.ts';
import type { PushDeps } from './push-deps.ts';
import { isToComeAgain, type PushRequest, type PushResult } from '../providers/push-gateway.ts';
import type { WatchedGateway } from '../providers/watch-provider.ts';
import { pushContent } from './push-payload.ts';
import { recordOutcomes } from './record-outcomes.ts';
import { noteRefusals } from './refusal-report.ts';
import { retireDevice, trustToken } from './retire-device.ts';

/** A device to push to, with the settings of the subscription that it is pushed for. */
export interface PushTarget {
  readonly claim: Claim;
  readonly pushToken: string;
  /** Its provider called the token dead once, and may have been wrong. */
  readonly isDoubted: boolean;
  readonly settings: MobileSettings;
}

/** Which try of a push this is. */
export interface Attempt {
  /** 0 for the first. */
  readonly round: number;
  /** No try after this time; null for the first round and for what the operator put back: the first failure sets it. */
  readonly giveUpAt: number | null;
  /** What is over and may be tried once more all the same. */
  readonly again: readonly RevivableStatus[];
}

export interface PushResults {
  /** Device ids that were not sent because the ledger has them as done, waiting, or somebody else's. */
  readonly unclaimed: readonly string[];
  /** How many were given up after all their tries. */
  readonly exhausted: number;
}

export interface Sending {
  readonly push: Push;
  readonly gateway: WatchedGateway;
  readonly platform: Platform;
  readonly attempt: Attempt;
}

/** The longest pause between two tries of a push. */
const backoffMsMax = 15 * 60_000;

/**
 * Claims a batch, sends what it got, and stores what became of each push. What the provider puts off becomes a job of
 * its own, stored before the ledger says `retrying`: a crash between the two leaves a claim that grows stale.
 */
export async function sendPush(deps: PushDeps, sending: Sending, targets: readonly PushTarget[]): Promise<PushResults> {
  const { message } = sending.push;
  const { deliveries } = deps.engine;
  const claims = targets.map(({ claim }) => claim);
  if (message.expiresAt <= deps.clock()) return { unclaimed: await expirePushes(deps, claims), exhausted: 0 };
  const claimedAt = deps.clock();
  const claimed = await deliveries.claim(claims, {
    now: claimedAt,
    staleAfterMs: deps.limits.claimStaleMs,
    again: sending.attempt.again,
  });
  const ours = targets.filter(({ claim }) => claimed.has(claim.deviceId));
  const unclaimed = targets.flatMap(({ claim }) => (claimed.has(claim.deviceId) ? [] : [claim.deviceId]));
  if (ours.length === 0) return { unclaimed, exhausted: 0 };
  // Read behind the claim: a change that is stored later finds the claim, and replaces what is sent now.
  const push = await loadPush(deps, { messageId: message.id, topicId: sending.push.topic.id });
  if ('over' in push) {
    await recordOutcomes(
      deps,
      ours.map(({ claim }) => ({ ...claim, status: 'skipped', reason: push.over })),
    );
    return { unclaimed, exhausted: 0 };
  }
  if (deps.clock() - claimedAt >= deps.limits.claimStaleMs) throw new RetryLater(0, 'the claims have grown stale');
  // The tokens are as old as before.
  return {
    unclaimed,
    exhausted: await sendClaimed(deps, { ...sending, push: { ...push, readAt: sending.push.readAt } }, ours),
  };
}

/** Resolves with how many were given up. */
async function sendClaimed(deps: PushDeps, sending: Sending, targets: readonly PushTarget[]): Promise<number> {
  const results = await sending.gateway.send(requestsFor(sending, targets));
  const settled = targets.map((target, index) => ({ target, result: results[index]! }));
  await keepTickets(deps, sending, settled);
  return settle(deps, sending, settled);
}

function requestsFor({ push, gateway }: Sending, targets: readonly PushTarget[]): PushRequest[] {
  const { message, topic } = push;
  const content = pushContent(message, topic, { bytesMax: gateway.payloadBytesMax });
  return targets.map(({ pushToken, settings }) => ({
    pushToken,
    content,
    sound: settings.soundEnabled ? settings.notificationSound : null,
    vibrates: settings.vibrateEnabled,
    isUrgent: isUrgent(message.priority),
    collapseId: message.id,
    expiresAt: message.expiresAt,
  }));
}

interface Settled {
  readonly target: PushTarget;
  readonly result: PushResult;
}

/**
 * Stored before the outcomes: after a crash in between the pushes are sent again, and come with tickets again. A queue that is away
 * loses them: that a phone is gone is told by its next push, too, and without an outcome this one would be sent twice.
 */
async function keepTickets(deps: PushDeps, { push, platform }: Sending, settled: readonly Settled[]): Promise<void> {
  const pushes = settled.flatMap(({ target, result }) =>
    result.kind === 'accepted' && result.ticket !== undefined ? [{ ...idsOf(target), ticket: result.ticket }] : [],
  );
  if (pushes.length === 0) return;
  // As old as the tokens: one that was given while they were sent is not the one that the receipt is about.
  const asked = { messageId: push.message.id, topicId: push.topic.id, platform, sentAt: push.readAt, pushes };
  try {
    await deps.engine.jobQueue.add(receiptsQueue, [receiptsJob(deps.makeId(), asked, deps.limits.receiptAfterMs)]);
  } catch (error) {
    if (!isUnavailable(error)) throw error;
    deps.log.warn(
      { platform, pushes: pushes.length },
      'the queue is away, so no receipts of these pushes are asked for',
    );
  }
}

function idsOf({ claim: { deviceId, userId, subscriptionId } }: PushTarget): PushTargetIds {
  return { deviceId, userId, subscriptionId };
}

async function settle(deps: PushDeps, sending: Sending, settled: readonly Settled[]): Promise<number> {
  const finals = settled.flatMap(({ target, result }): Outcome[] => {
    const outcome = finalOutcome(target, result);
    return outcome === null ? [] : [outcome];
  });
  await recordOutcomes(deps, finals);
  const now = deps.clock();
  const latency = deps.metrics.latency.labels(sending.platform);
  for (const { target, result } of settled) {
    if (result.kind === 'accepted') {
      deps.notifiedTimes.add(target.claim.subscriptionId, now);
      latency.observe((now - sending.push.message.timestamp) / 1_000);
    }
  }
  for (const one of settled) await noteToken(deps, sending, one);
  noteRefusals(
    deps,
    sending.platform,
    settled.map(({ result }) => result),
  );
  let exhausted = 0;
  // Each waits for as long as its own provider asked: a phone that gets too much holds up no other.
  for (const [askedMs, again] of Map.groupBy(
    settled.filter(({ result }) => isToComeAgain(result)),
    ({ result }) => askedMsOf(result),
  )) {
    exhausted += await putOff(deps, sending, { again, askedMs });
  }
  return exhausted;
}

/** In whole seconds, so that there are not as many jobs as phones. */
const askedMsOf = (result: PushResult): number =>
  Math.ceil(('afterMs' in result ? (result.afterMs ?? 0) : 0) / 1_000) * 1_000;

/** What the answer says of the device's token; nothing of one that was given after it was read, also where it is the same. */
async function noteToken(
  deps: PushDeps,
  { push: { readAt }, gateway }: Sending,
  { target, result }: Settled,
): Promise<void> {
  const {
    claim: { deviceId },
    pushToken,
    isDoubted,
  } = target;
  if (result.kind === 'dead-token')
    await retireDevice(deps, deviceId, { since: readAt, ...result, pushToken, tookAt: gateway.tookAt() });
  if (result.kind === 'accepted' && isDoubted) await trustToken(deps, deviceId, pushToken);
}

/** What the ledger says for good, or null for what is tried again. */
function finalOutcome({ claim }: PushTarget, result: PushResult): Outcome | null {
  switch (result.kind) {
    case 'accepted':
      return { ...claim, status: 'sent', reason: null };
    case 'dead-token':
      return { ...claim, status: 'dead_token', reason: result.reason };
    case 'rejected':
      return { ...claim, status: 'failed', reason: result.reason };
    case 'retry':
    case 'unknown':
      return null;
  }
}

/** Makes one job of what is tried again at the same time, or gives it up; returns how many were given up. */
async function putOff(
  deps: PushDeps,
  sending: Sending,
  { again, askedMs }: { again: readonly Settled[]; askedMs: number },
): Promise<number> {
  const { message, topic } = sending.push;
  const { round } = sending.attempt;
  const now = deps.clock();
  const pausedMs = sending.gateway.pausedMs();
  const delayMs = Math.max(askedMs, pausedMs > 0 ? afterPauseMs(deps, pausedMs) : backoffMs(deps, round));
  // The first failure is followed by one try at least, also where a provider asks for more than the whole time at once.
  const giveUpAt = sending.attempt.giveUpAt ?? now + Math.max(deps.limits.retryForMs, delayMs);
  const reasonToStop =
    now + delayMs >= message.expiresAt ? 'message expires' : now + delayMs > giveUpAt ? 'given up' : null;
  if (reasonToStop !== null) {
    await recordOutcomes(
      deps,
      again.map(({ target, result }) => ({
        ...target.claim,
        status: 'failed',
        reason: `${reasonToStop}: ${reasonOf(result)}`,
      })),
    );
    return reasonToStop === 'given up' ? again.length : 0;
  }
  const job = sendJob(
    deps.makeId(),
    {
      messageId: message.id,
      topicId: topic.id,
      platform: sending.platform,
      targets: again.map(({ target }) => idsOf(target)),
      // What waits for its provider to be back waits no longer each time.
      round: pausedMs > 0 ? Math.max(round, 1) : round + 1,
      giveUpAt,
    },
    { priority: message.priority, delayMs },
  );
  await deps.engine.jobQueue.add(pushQueueOf(message.priority), [job]);
  await recordOutcomes(
    deps,
    again.map(({ target, result }) => ({
      ...target.claim,
      status: 'retrying',
      reason: reasonOf(result),
      retryAt: now + delayMs,
    })),
  );
  return 0;
}

function reasonOf(result: PushResult): string {
  return 'reason' in result ? result.reason : result.kind;
}

/** When pushes that wait for their provider are to be tried: once the pause is over, and not all of them at once. */
export function afterPauseMs({ random }: Pick<PushDeps, 'random'>, pausedMs: number): number {
  return Math.ceil(pausedMs * (1 + random()));
}

/** Doubles with each round, give or take a half, so that what failed together does not come back together. */
function backoffMs(deps: PushDeps, round: number): number {
  return Math.round(Math.min(deps.limits.backoffMs * 2 ** round, backoffMsMax) * (0.5 + deps.random()));
}
