import { setTimeout as pause } from 'node:timers/promises';
import type { Messages } from '@tocsin/shared/ports/messages.ts';

/** For each millisecond of work so many of rest: what publishes wait for a sweep is a part of the time alone. */
const restPerWork = 2;
/** Harm prevented: a batch that met an outage, and a run that sleeps for as long as that. */
const restMsMax = 2_000;
/** Delays from here on are felt by those who publish. */
const sufferingMs = 50;
/** The first pause while others suffer; each one after it is twice as long. */
const firstPauseMs = 100;
/** Beyond its rest a sweep stands back for about so long at once; then one batch goes through, so that it comes to an end. */
const standBackMs = 2_000;

/** Keeps a sweep from those who publish: beside them, or on the store that they share. */
export interface GiveWay {
  /**
   * Rests as long as work that took so long asks for, and longer while publishes would suffer; ends at once when the signal
   * is aborted. Resolves with for how long.
   */
  rest(workedMs: number, signal: AbortSignal): Promise<number>;
}

/**
 * What publishes of this process wait for is seen by how late its event loop is, those of other processes by how long the
 * store takes to answer a ping.
 */
export function giveWay({ messages }: { messages: Pick<Messages, 'ping'> }): GiveWay {
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

/** Resolves with by how much the event loop was late. */
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
