import { setTimeout as pause } from 'node:timers/promises';
import type { Messages } from '@tocsin/shared/ports/messages/messages.ts';

/** Milliseconds of pause per millisecond of work, which limits the time that publishes wait for a sweep. */
const restPerWork = 2;
/** Limits the pause after a batch that was slowed by an outage. */
const restMsMax = 2_000;
/** Delays from here on affect publishes. */
const sufferingMs = 50;
/** The first pause under load; it doubles. */
const firstPauseMs = 100;
/** The longest additional wait; then one batch runs, so that the sweep completes. */
const standBackMs = 2_000;

/** Throttles a sweep so that it does not slow publishes in this process or on the shared store. */
export interface SweepThrottle {
  /**
   * Pauses in proportion to the duration of the work, and longer under load; ends immediately if the signal
   * is aborted. Resolves with the duration of the pause.
   */
  rest(workedMs: number, signal: AbortSignal): Promise<number>;
}

/**
 * Measures the load by the delay of this process's event loop, and for other processes by the
 * response time of the store to a ping.
 */
export function sweepThrottle({ messages }: { messages: Pick<Messages, 'ping'> }): SweepThrottle {
  return {
    async rest(workedMs, signal) {
      const beganAt = performance.now();
      let lateMs = await sleep(Math.min(workedMs * restPerWork, restMsMax), signal);
      for (let ms = firstPauseMs; !signal.aborted && performance.now() - beganAt < standBackMs; ms *= 2) {
        if (lateMs < sufferingMs && (await pingMs(messages)) < sufferingMs) break;
        lateMs = await sleep(ms, signal);
      }
      return performance.now() - beganAt;
    },
  };
}

/** Resolves with the delay of the event loop. */
async function sleep(ms: number, signal: AbortSignal): Promise<number> {
  const dueAt = performance.now() + ms;
  await pause(ms, undefined, { signal }).catch(() => undefined); // aborted: the sweep ends
  return performance.now() - dueAt;
}

async function pingMs(messages: Pick<Messages, 'ping'>): Promise<number> {
  const askedAt = performance.now();
  await messages.ping();
  return performance.now() - askedAt;
}
