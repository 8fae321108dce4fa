import type { PushResult } from './push-gateway.ts';

/** The result of a push that its provider put off by an HTTP status: a quota (429), or trouble (5xx) that any push would have met. */
export function putOff(status: number, reason: string, afterMs: number | null): PushResult {
  return {
    kind: 'retry',
    reason,
    ...(afterMs === null ? {} : { afterMs }),
    ...(status >= 500 ? { isTrouble: true } : {}),
  };
}

/** Whether a status says so. */
export const isPutOff = (status: number): boolean => status === 429 || status >= 500;

/** The result of an answer in other words than the provider's own: of a proxy, say. Whatever its status, it tells nothing of the push. */
export function inOtherWords(provider: string, status: number, afterMs: number | null): PushResult {
  return {
    kind: 'retry',
    reason: `${status} in words that are not ${provider}’s`,
    ...(afterMs === null ? {} : { afterMs }),
    isTrouble: true,
  };
}
