import type { Agent, Dispatcher } from 'undici';

/** What a provider's server said to a request, as far as its SDK does not tell. */
export interface Answer {
  /** Null while there is none, and for ever when it was lost. */
  status: number | null;
  /** From `Retry-After`; null without one. */
  retryAfterMs: number | null;
}

export function noAnswer(): Answer {
  return { status: null, retryAfterMs: null };
}

/**
 * The agent for one request of an SDK built on undici's fetch: sends it to another origin where one is given, notes the
 * answer's status and `Retry-After`, ends it at the timeout, and refuses every further request. So the SDK's own
 * retries, which know nothing of `Retry-After`, never reach the provider.
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

/** Harm prevented: a wrong number, or a clock that is wrong, keeping a provider's pushes waiting for days. */
const retryAfterMsMax = 3_600_000;

/** Seconds or a date, RFC 9110 §10.2.3, in milliseconds from now, an hour at most; null for anything else. */
export function readRetryAfter(value: string | string[] | undefined): number | null {
  if (typeof value !== 'string') return null;
  const ms = /^\d+$/.test(value)
    ? Number(value) * 1_000
    : /^[A-Z][a-z]+,? /.test(value)
      ? Date.parse(value) - Date.now()
      : NaN;
  return Number.isNaN(ms) ? null : Math.min(Math.max(0, ms), retryAfterMsMax);
}
