import type { PushResult } from './push-gateway.ts';

/** The result of a temporary HTTP error: a quota (429), or a server error (5xx) that affects any push. */
export function temporaryError(status: number, reason: string, afterMs: number | null): PushResult {
  return {
    kind: 'retry',
    reason,
    ...(afterMs === null ? {} : { afterMs }),
    ...(status >= 500 ? { isTrouble: true } : {}),
  };
}

/** Whether the status is a temporary error. */
export const isTemporaryError = (status: number): boolean => status === 429 || status >= 500;

/** The result of a response that is not from the provider, for example from a proxy. It says nothing about the push. */
export function foreignResponse(provider: string, status: number, afterMs: number | null): PushResult {
  return {
    kind: 'retry',
    reason: `${status} in a format that is not from ${provider}`,
    ...(afterMs === null ? {} : { afterMs }),
    isTrouble: true,
  };
}
