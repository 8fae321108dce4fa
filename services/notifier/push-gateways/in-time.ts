import { within } from '@tocsin/shared/platform/within.ts';
import { sendTimeoutMs, type PushResult } from './push-gateway.ts';

/** What is left for the rest of a send. */
const slackMs = 1_000;

/** The result of a push, or `unknown` when the provider's library has not told it while the claim on the push lasts. */
export function inTime(provider: string, result: Promise<PushResult>, timeoutMs = sendTimeoutMs - slackMs): Promise<PushResult> {
  return within(timeoutMs, `the answer of ${provider}`, result).catch((error: unknown) => ({ kind: 'unknown', reason: (error as Error).message }));
}
