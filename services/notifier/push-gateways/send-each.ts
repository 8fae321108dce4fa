import type { Log } from '@tocsin/shared/platform/log.ts';
import { within } from '@tocsin/shared/platform/within.ts';
import { sendTimeoutMs, type PushRequest, type PushResult } from './push-gateway.ts';

/** What is left for the rest of a send. */
const slackMs = 1_000;

/** A provider that is handed one push at a time. */
export interface SingleSender {
  readonly provider: string;
  readonly sendOne: (push: PushRequest) => Promise<PushResult>;
  /** Reasons to come back that are the operator's to repair, and where to look for the cause. */
  readonly ourFaults: ReadonlySet<string>;
  readonly remedy: string;
  readonly log: Log;
  readonly answerTimeoutMs?: number | undefined;
}

/**
 * Sends the pushes side by side. One whose result the provider's library has not told while the claim on it lasts is
 * `unknown`; what is the operator's to repair is logged once a batch.
 */
export async function sendEach(sender: SingleSender, batch: readonly PushRequest[]): Promise<PushResult[]> {
  const { provider, ourFaults, answerTimeoutMs = sendTimeoutMs - slackMs } = sender;
  const inTime = (push: PushRequest): Promise<PushResult> =>
    within(answerTimeoutMs, `the answer of ${provider}`, sender.sendOne(push)).catch((error: unknown) => ({ kind: 'unknown', reason: (error as Error).message }));
  const results = await Promise.all(batch.map(inTime));
  const refusal = results.find((result) => result.kind === 'retry' && ourFaults.has(result.reason));
  if (refusal !== undefined) sender.log.error({ reason: 'reason' in refusal ? refusal.reason : null }, `${provider} refuses ${sender.remedy}`);
  return results;
}
