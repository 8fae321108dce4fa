import { ledgerKey } from '@tocsin/shared/domain/escalation/ledger-key.ts';
import { pushProviders } from '@tocsin/shared/domain/push/push-platforms.ts';
import type { SendJob } from '@tocsin/shared/domain/push/push-job.ts';
import type { Claim, Delivery, Outcome } from '@tocsin/shared/ports/deliveries.ts';
import { Discard, RetryLater } from '@tocsin/shared/ports/job-queue.ts';
import { clockSkewMs } from '@tocsin/shared/ports/messages/message-reads.ts';
import { currentRecipients, currentSettings } from '../sending/current-recipients.ts';
import { expirePushes } from '../sending/expire-pushes.ts';
import { loadPush } from '../sending/load-push.ts';
import type { PushDeps } from '../sending/push-deps.ts';
import { pushToRecipients, waitForHeld } from '../sending/push-to-recipients.ts';
import { recordOutcomes } from '../sending/record-outcomes.ts';
import { afterPauseMs, type Attempt } from '../sending/send-push.ts';

/**
 * Retries pushes after temporary errors, using current settings, tokens and access rights. After the last attempt it
 * throws Discard, so that the job becomes a dead letter. If the operator retries it, the retry period starts again.
 */
export async function retryPush(deps: PushDeps, job: SendJob): Promise<void> {
  waitForProvider(deps, job);
  const deviceIds = job.targets.map(({ deviceId }) => deviceId);
  const [rows, push, settings] = await Promise.all([
    deps.engine.deliveries.find(ledgerKey(job.messageId, job.page), { deviceIds, limit: deviceIds.length }),
    loadPush(deps, { ...job, isReplaceable: true }),
    currentSettings(deps, job.targets),
  ]);
  const waiting = rows.filter(({ status }) => status !== 'sent' && status !== 'dead_token' && status !== 'skipped');
  if (waiting.length === 0) return;
  if ('over' in push) return end(deps, waiting, push.over);
  // If a running job has failed rows, the operator has retried it.
  const isRedriven = waiting.some(({ status }) => status === 'failed');
  const waitingIds = new Set(waiting.map(({ deviceId }) => deviceId));
  const targets = job.targets.filter(({ deviceId }) => waitingIds.has(deviceId));
  const { recipients, dropped } = currentRecipients(push, settings, targets);
  for (const [reason, ids] of dropped)
    await skip(
      deps,
      waiting.filter(({ deviceId }) => ids.has(deviceId)),
      reason,
    );
  const attempt: Attempt = isRedriven
    ? { round: 1, giveUpAt: null, again: ['failed'] }
    : { round: job.round, giveUpAt: job.giveUpAt, again: [] };
  const { exhausted } = await pushToRecipients(deps, push, recipients, attempt);
  if (exhausted > 0) throw new Discard(`${exhausted} pushes failed for too long`);
  waitUntilDue(deps, waiting);
}

/**
 * Throws RetryLater for pushes that are due in the queue but not in the ledger, because of clock skew between
 * notifiers. Pushes due much later have their own job.
 */
function waitUntilDue({ clock }: PushDeps, waiting: readonly Delivery[]): void {
  const now = clock();
  const dueAt = Math.max(
    ...waiting.map(({ status, retryAt }) =>
      status === 'retrying' && retryAt !== null && retryAt <= now + clockSkewMs ? retryAt : 0,
    ),
  );
  if (dueAt > now) throw new RetryLater(dueAt - now, 'pushes are not due yet by this clock');
}

/**
 * Throws RetryLater while the provider is down, without counting an attempt, except for the last attempt, which fails.
 * Checked before any read, because thousands of jobs may wait for a provider and precede jobs of others.
 */
function waitForProvider(deps: PushDeps, { platform, isUrgent = false, giveUpAt }: SendJob): void {
  if (platform === undefined) return;
  const gateway = deps.gateways.get(platform);
  if (gateway === undefined) return;
  const delayMs = afterPauseMs(deps, gateway, { isUrgent });
  if (delayMs > 0 && deps.clock() + delayMs <= giveUpAt)
    throw new RetryLater(delayMs, `${pushProviders[platform].name} is unavailable`);
}

async function end(deps: PushDeps, rows: readonly Delivery[], reason: string): Promise<void> {
  if (reason !== 'message expired') return skip(deps, rows, reason);
  await waitForHeld(deps, rows[0]!.messageId, await expirePushes(deps, rows.map(claimOf)));
}

async function skip(deps: PushDeps, rows: readonly Delivery[], reason: string): Promise<void> {
  await recordOutcomes(
    deps,
    rows.map((row): Outcome => ({ ...claimOf(row), status: 'skipped', reason })),
  );
}

function claimOf({ messageId, deviceId, topicId, userId, subscriptionId, platform }: Delivery): Claim {
  return { messageId, deviceId, topicId, userId, subscriptionId, platform };
}
