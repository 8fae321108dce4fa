import type { Platform } from '@tocsin/shared/domain/push/device.ts';
import { pushProviders } from '@tocsin/shared/domain/push/push-platforms.ts';
import type { Clock } from '@tocsin/shared/platform/clock.ts';
import type { Logger } from '@tocsin/shared/platform/logger.ts';
import type { PushGateway, PushResult } from './push-gateway.ts';

/** Batches in a row that a provider has to fail: one that is cut off says nothing of the next. */
const failuresMax = 3;

/** Between two tries of a provider that is away; it doubles. Harm prevented: a storm of requests that would keep it down. */
const pauseMs = { first: 1_000, max: 30_000 } as const;

/** Harm prevented: a line for each of thousands of pushes. */
const logEveryMs = 60_000;

/** A gateway that knows whether its provider is there. */
export interface WatchedGateway extends PushGateway {
  /** For how long nothing should be sent; 0 while the provider is there, and when it is time to see whether it is. */
  pausedMs(): number;
  /** When it took a push last; -Infinity before it did. */
  tookAt(): number;
}

export interface WatchOptions {
  readonly platform: Platform;
  readonly clock: Clock;
  readonly log: Logger;
  /** Told when the provider goes away, and when it is back. */
  readonly onChange: (isAway: boolean) => void;
}

/** What a provider answers that would have answered any push so. */
type Trouble = Extract<PushResult, { kind: 'retry' | 'unknown' }>;

interface Away {
  readonly since: number;
  readonly trouble: Trouble;
  readonly pauseMs: number;
  /** When it is to be tried next; null while it is being tried. */
  tryAt: number | null;
  loggedAt: number;
}

/**
 * The gateway, used no more than now and then while its provider is away: gives no answers, is in trouble, or refuses this
 * installation. What is sent meanwhile is put off at once and keeps no worker from other providers; one batch at a
 * time finds out whether the provider is back. The log says when it goes, once a minute that it is away, and when it is
 * back. A refusal is for those to log who get the results, with its remedy.
 */
export function watchProvider(gateway: PushGateway, { platform, clock, log, onChange }: WatchOptions): WatchedGateway {
  const { name } = pushProviders[platform];
  let failures = 0;
  let tookAt = -Infinity;
  let away: Away | null = null;

  const fail = (trouble: Trouble, isTry: boolean): void => {
    const now = clock();
    failures += 1;
    if (away === null && failures < failuresMax) return;
    if (away === null) {
      away = { since: now, trouble, pauseMs: pauseMs.first, tryAt: now + pauseMs.first, loggedAt: -Infinity };
      onChange(true);
    } else if (isTry) {
      const longer = Math.min(away.pauseMs * 2, pauseMs.max);
      away = { ...away, trouble, pauseMs: longer, tryAt: now + longer };
    }
    if ('remedy' in trouble || now - away.loggedAt < logEveryMs) return;
    away.loggedAt = now;
    const awaySeconds = Math.round((now - away.since) / 1_000);
    log.warn(
      { platform, reason: trouble.reason, awaySeconds },
      `${name} takes no pushes, they wait and are tried again`,
    );
  };
  const succeed = (): void => {
    failures = 0;
    if (away === null) return;
    log.info({ platform, awaySeconds: Math.round((clock() - away.since) / 1_000) }, `${name} takes pushes again`);
    away = null;
    onChange(false);
  };
  const pausedMs = (): number =>
    away === null ? 0 : away.tryAt === null ? away.pauseMs : Math.max(away.tryAt - clock(), 0);

  return {
    ...gateway,
    pausedMs,
    tookAt: () => tookAt,
    async send(batch) {
      if (away !== null && pausedMs() > 0) {
        const { kind: _, ...trouble } = away.trouble;
        return batch.map(() => ({ ...trouble, kind: 'retry' }));
      }
      const isTry = away !== null;
      if (away !== null) away.tryAt = null;
      try {
        const results = await gateway.send(batch);
        const trouble = results.find(isTrouble);
        if (results.some(({ kind }) => kind === 'accepted')) tookAt = clock();
        if (results.some(({ kind }) => kind === 'accepted' || kind === 'rejected')) succeed();
        else if (trouble !== undefined) fail(trouble, isTry);
        return results;
      } finally {
        // A try that told nothing of the provider, such as one with a dead token alone: the next batch is one.
        if (isTry && away?.tryAt === null) away.tryAt = clock();
      }
    },
  };
}

function isTrouble(result: PushResult): result is Trouble {
  if (result.kind === 'unknown') return true;
  // Harm prevented: whoever registers a phone of another app keeps the pushes of all others waiting.
  return (
    result.kind === 'retry' && ((result.remedy !== undefined && result.isOfToken !== true) || result.isTrouble === true)
  );
}
