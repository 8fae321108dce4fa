import type { Platform } from '@tocsin/shared/domain/push/device.ts';
import {
  isUrgent,
  pageQueueOf,
  pushQueueOf,
  receiptsJob,
  receiptsQueue,
  sendJob,
  type PushTargetIds,
} from '@tocsin/shared/domain/push/push-job.ts';
import { isUnavailable, unavailable } from '@tocsin/shared/domain/errors.ts';
import type { MobileSettings } from '@tocsin/shared/domain/push/subscription.ts';
import type { Claim, Outcome, UndeliveredStatus } from '@tocsin/shared/ports/deliveries.ts';
import { RetryLater } from '@tocsin/shared/ports/job-queue.ts';
import { expirePushes } from './expire-pushes.ts';
import { loadPush, type Push, type PushIds } from './load-push.ts';
import type { PushDeps } from './push-deps.ts';
import { isToComeAgain, type PushRequest, type PushResult } from '../providers/push-gateway.ts';
import type { WatchedGateway } from '../providers/watch-provider.ts';
import { contentMaker } from './push-payload.ts';
import { pushLevel } from './push-level.ts';
import { recordOutcomes, unsentOutcome } from './record-outcomes.ts';
import { noteRefusals } from './refusal-report.ts';
import { retireDevice, trustToken } from './retire-device.ts';

/** A target device with the settings of its subscription. */
export interface PushTarget {
  readonly claim: Claim;
  readonly pushToken: string;
  /** Its provider reported the token as dead once, possibly wrongly. */
  readonly isDoubted: boolean;
  readonly settings: MobileSettings;
  /** The account's unread messages; null leaves the number on the device's icon as it is. */
  readonly badge: number | null;
}

/** The attempt of a push. */
export interface Attempt {
  /** 0 for the first. */
  readonly round: number;
  /**
   * No retries after this time; null in the first round and after an operator's retry, until the first failure sets it.
   */
  readonly giveUpAt: number | null;
  /** Finished rows that may be attempted once more. */
  readonly again: readonly UndeliveredStatus[];
}

export interface PushResults {
  /** Device IDs that were not sent because they are done, waiting, or claimed by another worker. */
  readonly unclaimed: readonly string[];
  /** The number of pushes that failed after all attempts. */
  readonly exhausted: number;
}

export interface Sending {
  readonly push: Push;
  readonly gateway: WatchedGateway;
  readonly platform: Platform;
  readonly attempt: Attempt;
}

/** The longest pause between two attempts of a push. */
const backoffMsMax = 15 * 60_000;

/**
 * Claims a batch, sends the claimed pushes, and stores the outcomes. Temporary errors become their
 * own job, stored before the ledger says `retrying`: a crash in between leaves a claim that becomes stale.
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
  // Read after the claim: a later change finds the claim and replaces this push.
  const push = await loadPush(deps, pushIdsOf(sending));
  if ('over' in push) {
    await recordOutcomes(
      deps,
      ours.map(({ claim }) => unsentOutcome(claim, push.over)),
    );
    return { unclaimed, exhausted: 0 };
  }
  if (deps.clock() - claimedAt >= deps.limits.claimStaleMs) throw new RetryLater(0, 'the claims became stale');
  // The tokens are not newer than before.
  return {
    unclaimed,
    exhausted: await sendClaimed(deps, { ...sending, push: { ...push, readAt: sending.push.readAt } }, ours),
  };
}

/** Names the push, to load its current state. */
export function pushIdsOf({ push: { message, topic, page }, attempt }: Pick<Sending, 'push' | 'attempt'>): PushIds {
  return { messageId: message.id, topicId: topic.id, page, isReplaceable: attempt.round > 0 };
}

/** Resolves with the number of permanently failed pushes. */
async function sendClaimed(deps: PushDeps, sending: Sending, targets: readonly PushTarget[]): Promise<number> {
  const results = await sending.gateway.send(requestsFor(deps, sending, targets));
  const settled = targets.map((target, index) => ({ target, result: results[index]! }));
  await keepTickets(deps, sending, settled);
  return recordResults(deps, sending, settled);
}

function requestsFor(deps: PushDeps, { push, gateway }: Sending, targets: readonly PushTarget[]): PushRequest[] {
  const { message, topic, ackKey } = push;
  const bytesMax = gateway.payloadBytesMax;
  const content = contentMaker(deps.baseUrl, { message, topic, ackKey, bytesMax, now: deps.clock() });
  return targets.map(({ claim, pushToken, settings, badge }) => {
    const level = pushLevel(message, settings, deps);
    return {
      pushToken,
      content: content(claim.deviceId),
      level,
      sound: level !== 'low' && settings.soundEnabled ? settings.notificationSound : null,
      vibrates: level !== 'low' && settings.vibrateEnabled,
      badge,
      collapseId: message.id,
      expiresAt: message.expiresAt,
    };
  });
}

interface Settled {
  readonly target: PushTarget;
  readonly result: PushResult;
}

/**
 * Stores receipt jobs before the outcomes: after a crash in between, the pushes are sent again with new tickets. If the
 * queue is down, the jobs are lost: the next push also reports dead tokens, and a missing outcome would cause a
 * duplicate.
 */
async function keepTickets(deps: PushDeps, { push, platform }: Sending, settled: readonly Settled[]): Promise<void> {
  const pushes = settled.flatMap(({ target, result }) =>
    result.kind === 'accepted' && result.ticket !== undefined ? [{ ...idsOf(target), ticket: result.ticket }] : [],
  );
  if (pushes.length === 0) return;
  // The time of the tokens: a receipt does not refer to a token registered during the send.
  const asked = {
    messageId: push.message.id,
    topicId: push.topic.id,
    platform,
    page: push.page,
    sentAt: push.readAt,
    pushes,
  };
  try {
    if (!(await deps.engine.jobQueue.hasRoom())) throw unavailable('Queue');
    await deps.engine.jobQueue.add(receiptsQueue, [receiptsJob(deps.makeId(), asked, deps.limits.receiptAfterMs)]);
  } catch (error) {
    if (!isUnavailable(error)) throw error;
    deps.log.warn({ platform, pushes: pushes.length }, 'queue unreachable, skipping the receipts of these pushes');
  }
}

function idsOf({ claim: { deviceId, userId, subscriptionId } }: PushTarget): PushTargetIds {
  return { deviceId, userId, subscriptionId };
}

async function recordResults(deps: PushDeps, sending: Sending, settled: readonly Settled[]): Promise<number> {
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
      if (sending.push.page === undefined) latency.observe((now - sending.push.message.timestamp) / 1_000);
    }
  }
  for (const one of settled) await noteToken(deps, sending, one);
  noteRefusals(
    deps,
    sending.platform,
    settled.map(({ result }) => result),
  );
  let exhausted = 0;
  // Each push waits as long as its provider asked, so that a rate-limited device does not delay others.
  for (const [askedMs, again] of Map.groupBy(
    settled.filter(({ result }) => isToComeAgain(result)),
    ({ result }) => askedMsOf(result),
  )) {
    exhausted += await scheduleRetry(deps, sending, { again, askedMs });
  }
  return exhausted;
}

/** In whole seconds, to limit the number of jobs. */
const askedMsOf = (result: PushResult): number =>
  Math.ceil(('afterMs' in result ? (result.afterMs ?? 0) : 0) / 1_000) * 1_000;

/** Applies the result to the device's token, but not to a token registered after it was read, even if it is equal. */
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

/** Returns the final ledger status, or null for a retry. */
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

/** Adds one job for pushes with the same retry time, or fails them; returns the number of failed ones. */
async function scheduleRetry(
  deps: PushDeps,
  sending: Sending,
  { again, askedMs }: { again: readonly Settled[]; askedMs: number },
): Promise<number> {
  const { message, topic } = sending.push;
  const { round } = sending.attempt;
  const now = deps.clock();
  const pausedMs = afterPauseMs(deps, sending.gateway, { isUrgent: isUrgent(message.priority) });
  const delayMs = Math.max(askedMs, pausedMs > 0 ? pausedMs : backoffMs(deps, round));
  // At least one retry follows the first failure, even if the provider asks for a longer pause than the retry period.
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
      page: sending.push.page,
      // Waiting for an unavailable provider does not increase the pause.
      round: pausedMs > 0 ? Math.max(round, 1) : round + 1,
      giveUpAt,
    },
    { priority: message.priority, delayMs },
  );
  const queueOf = again.length > deps.limits.firstPageSize ? pageQueueOf : pushQueueOf;
  await deps.engine.jobQueue.add(queueOf(message.priority), [job]);
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

/**
 * The delay of pushes while their provider is down; 0 if it is not. Urgent pushes have no jitter: they are due with the
 * next probe, before all others.
 */
export function afterPauseMs(
  { random }: Pick<PushDeps, 'random'>,
  gateway: WatchedGateway,
  { isUrgent }: { isUrgent: boolean },
): number {
  return Math.ceil(gateway.pausedMs({ isUrgent }) * (isUrgent ? 1 : 1 + random()));
}

/** Doubles with each round, with 50 % jitter, so that failed pushes do not retry together. */
export function backoffMs(deps: Pick<PushDeps, 'limits' | 'random'>, round: number): number {
  return Math.round(Math.min(deps.limits.backoffMs * 2 ** round, backoffMsMax) * (0.5 + deps.random()));
}
