import { within } from '@tocsin/shared/platform/within.ts';
import { sendTimeoutMs, type PushRequest, type PushResult } from './push-gateway.ts';

/** What is left for the rest of a send. */
const slackMs = 1_000;

/** A provider that is handed one push at a time. */
export interface SingleSender {
  readonly provider: string;
  readonly sendOne: (push: PushRequest) => Promise<PushResult>;
  readonly answerTimeoutMs?: number | undefined;
}

/** Sends the pushes side by side. One whose result the provider's library has not told while the claim on it lasts is `unknown`. */
export function sendEach(sender: SingleSender, batch: readonly PushRequest[]): Promise<PushResult[]> {
  const { provider, answerTimeoutMs = sendTimeoutMs - slackMs } = sender;
  const inTime = (push: PushRequest): Promise<PushResult> =>
    within(answerTimeoutMs, `the answer of ${provider}`, sender.sendOne(push)).catch((error: unknown) => ({ kind: 'unknown', reason: (error as Error).message }));
  return Promise.all(batch.map(inTime));
}
