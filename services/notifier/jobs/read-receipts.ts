import { ledgerKey } from '@tocsin/shared/domain/escalation/ledger-key.ts';
import type { ReceiptsJob } from '@tocsin/shared/domain/push/push-job.ts';
import type { Outcome } from '@tocsin/shared/ports/deliveries.ts';
import { RetryLater } from '@tocsin/shared/ports/job-queue.ts';
import type { PushDeps } from '../sending/push-deps.ts';
import type { PushResult } from '../providers/push-gateway.ts';
import { recordOutcomes } from '../sending/record-outcomes.ts';
import { noteRefusals } from '../sending/refusal-report.ts';
import { retireDevice } from '../sending/retire-device.ts';

/** https://docs.expo.dev/push-notifications/sending-notifications/: receipts are cleared after 24 hours. */
const keptMs = 23 * 3_600_000;

/**
 * Fetches the receipts of accepted pushes, records failed and dead tokens in the ledger, and deactivates devices with
 * dead tokens. Idempotent. Throws RetryLater while receipts are missing, each time for as long as the push is old,
 * until the provider has removed them.
 */
export async function readReceipts(deps: PushDeps, job: ReceiptsJob): Promise<void> {
  const ask = deps.gateways.get(job.platform)?.receipts;
  if (ask === undefined) return;
  const answer = await ask(job.pushes.map(({ ticket }) => ticket));
  if (answer.kind === 'retry') {
    noteRefusals(deps, job.platform, [answer]);
    return comeBack(deps, job, answer);
  }
  await recordReceipts(deps, job, answer.results);
  const missing = job.pushes.filter(({ ticket }) => !answer.results.has(ticket)).length;
  if (missing > 0) comeBack(deps, job, { reason: `${missing} receipts are not available yet` });
}

function comeBack(
  deps: PushDeps,
  { platform, sentAt }: ReceiptsJob,
  why: { readonly reason: string; readonly afterMs?: number },
): void {
  const ageMs = deps.clock() - sentAt;
  if (ageMs > keptMs) return deps.log.warn({ platform, reason: why.reason }, 'push receipts could not be fetched');
  throw new RetryLater(Math.max(ageMs, why.afterMs ?? 0, deps.limits.receiptAfterMs), why.reason);
}

async function recordReceipts(
  deps: PushDeps,
  job: ReceiptsJob,
  results: ReadonlyMap<string, PushResult>,
): Promise<void> {
  const faults = job.pushes.flatMap((push) => {
    const result = results.get(push.ticket);
    return result === undefined || !('reason' in result) ? [] : [{ push, result }];
  });
  if (faults.length === 0) return;
  const { topicId, platform } = job;
  const messageId = ledgerKey(job.messageId, job.page);
  const deviceIds = faults.map(({ push }) => push.deviceId);
  const rows = await deps.engine.deliveries.find(messageId, { deviceIds, limit: deviceIds.length });
  const sent = new Set(rows.flatMap(({ deviceId, status }) => (status === 'sent' ? [deviceId] : [])));
  const outcomes = faults
    .filter(({ push }) => sent.has(push.deviceId))
    .map(({ push: { ticket: _, ...ids }, result }): Outcome => ({
      ...ids,
      messageId,
      topicId,
      platform,
      status: result.kind === 'dead-token' ? 'dead_token' : 'failed',
      reason: `receipt: ${result.reason}`,
    }));
  await recordOutcomes(deps, outcomes);
  for (const { push, result } of faults)
    if (result.kind === 'dead-token') await retireDevice(deps, push.deviceId, { since: job.sentAt });
  noteRefusals(
    deps,
    platform,
    faults.map(({ result }) => result),
  );
}
