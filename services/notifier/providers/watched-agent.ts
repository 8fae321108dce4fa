import type { Agent, Dispatcher } from 'undici';

/** Details of a response that the SDK does not expose. */
export interface Answer {
  /** Null before the response, and if it was lost. */
  status: number | null;
  /** From `Retry-After`; null if absent. */
  retryAfterMs: number | null;
}

export function noAnswer(): Answer {
  return { status: null, retryAfterMs: null };
}

/**
 * The agent for one request of an SDK based on undici's fetch: sends it to another origin if configured, records
 * status and `Retry-After`, enforces the timeout, and rejects further requests, so that the SDK's
 * retries, which ignore `Retry-After`, never reach the provider.
 */
export function watchedAgent(
  agent: Agent,
  watch: { origin: string | undefined; answer: Answer; timeoutMs: number },
): Dispatcher {
  const { origin, answer } = watch;
  let isUsed = false;
  return agent.compose((dispatch) => (options, handler) => {
    if (isUsed) throw new Error('one request only');
    isUsed = true;
    let timer: NodeJS.Timeout | undefined;
    const target = origin === undefined ? options : { ...options, ...moved(new URL(origin), options.path) };
    return dispatch(target, {
      onRequestStart(controller, context) {
        timer = setTimeout(() => controller.abort(new Error('timed out')), watch.timeoutMs);
        handler.onRequestStart?.(controller, context);
      },
      onRequestUpgrade: (...rest) => handler.onRequestUpgrade?.(...rest),
      onResponseStart(controller, status, headers, statusMessage) {
        answer.status = status;
        answer.retryAfterMs = readRetryAfter(headers['retry-after']);
        handler.onResponseStart?.(controller, status, headers, statusMessage);
      },
      onResponseData: (...rest) => handler.onResponseData?.(...rest),
      onResponseEnd(...rest) {
        clearTimeout(timer);
        handler.onResponseEnd?.(...rest);
      },
      onResponseError(...rest) {
        clearTimeout(timer);
        handler.onResponseError?.(...rest);
      },
    });
  });
}

function moved(url: URL, path: string): { origin: string; path: string } {
  return { origin: url.origin, path: url.pathname.replace(/\/$/, '') + path };
}

/** Limits the effect of a wrong value or a wrong clock. */
const retryAfterMsMax = 3_600_000;

/** Parses seconds or a date (RFC 9110 §10.2.3) to milliseconds from now, at most an hour; null if invalid. */
export function readRetryAfter(value: string | string[] | undefined): number | null {
  if (typeof value !== 'string') return null;
  const ms = /^\d+$/.test(value)
    ? Number(value) * 1_000
    : /^[A-Z][a-z]+,? /.test(value)
      ? Date.parse(value) - Date.now()
      : NaN;
  return Number.isNaN(ms) ? null : Math.min(Math.max(0, ms), retryAfterMsMax);
}
