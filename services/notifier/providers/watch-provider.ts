import type { Platform } from '@tocsin/shared/domain/push/device.ts';
import { pushProviders } from '@tocsin/shared/domain/push/push-platforms.ts';
import type { Clock } from '@tocsin/shared/platform/clock.ts';
import type { Logger } from '@tocsin/shared/platform/logger.ts';
import type { PushGateway, PushResult } from './push-gateway.ts';

/** Consecutive failed batches before a provider counts as down: a single cut connection says nothing. */
const failuresMax = 3;

/** The first pause between probes of a provider that is down; it doubles, so that a burst does not keep it down. */
const pauseMs = { first: 1_000, max: 30_000 } as const;

/** Prevents a log line for each of thousands of pushes. */
const logEveryMs = 60_000;

/** A gateway that tracks whether its provider is available. */
export interface WatchedGateway extends PushGateway {
  /**
   * How long to send nothing; 0 while the provider is available or due for a probe. During a probe, urgent pushes wait
   * for as long as it has taken, because they can be sent as soon as it succeeds; others wait for a pause.
   */
  pausedMs(push: { isUrgent: boolean }): number;
  /** Time of the last accepted push; -Infinity before the first. */
  tookAt(): number;
}

export interface WatchOptions {
  readonly platform: Platform;
  readonly clock: Clock;
  readonly log: Logger;
  /** Called when the provider goes down and when it recovers. */
  readonly onChange: (isAway: boolean) => void;
}

/** Results that any push would have received. */
type Trouble = Extract<PushResult, { kind: 'retry' | 'unknown' }>;

interface Away {
  readonly since: number;
  readonly trouble: Trouble;
  readonly pauseMs: number;
  /** Time of the next probe. */
  tryAt: number;
  /** Start of the running probe; null between probes. */
  probedAt: number | null;
  loggedAt: number;
}

/**
 * Wraps a gateway and limits it to probes while its provider is down: it does not respond, has errors, or rejects this
 * installation. Meanwhile pushes are deferred immediately, so that workers stay free for other providers; one batch at
 * a time probes the provider. Logs when it goes down, once per minute while it is down, and when it recovers. Callers
 * log rejections with their remedy.
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
      away = {
        since: now,
        trouble,
        pauseMs: pauseMs.first,
        tryAt: now + pauseMs.first,
        probedAt: null,
        loggedAt: -Infinity,
      };
      onChange(true);
    } else if (isTry) {
      const longer = Math.min(away.pauseMs * 2, pauseMs.max);
      away = { ...away, trouble, pauseMs: longer, tryAt: now + longer, probedAt: null };
    }
    if ('remedy' in trouble || now - away.loggedAt < logEveryMs) return;
    away.loggedAt = now;
    const awaySeconds = Math.round((now - away.since) / 1_000);
    log.warn({ platform, reason: trouble.reason, awaySeconds }, `${name} rejects pushes, pausing`);
  };
  const succeed = (): void => {
    failures = 0;
    if (away === null) return;
    log.info({ platform, awaySeconds: Math.round((clock() - away.since) / 1_000) }, `${name} accepts pushes again`);
    away = null;
    onChange(false);
  };
  const pausedMs = ({ isUrgent }: { isUrgent: boolean }): number => {
    if (away === null) return 0;
    if (away.probedAt !== null) {
      // Doubles, so that an urgent job is deferred only a few times during a probe that times out.
      const probeMs = isUrgent ? Math.max(clock() - away.probedAt, pauseMs.first) : Infinity;
      return Math.min(probeMs, away.pauseMs);
    }
    const leftMs = Math.max(away.tryAt - clock(), 0);
    // A pause that seems longer than it was began before the clock was set back.
    return leftMs <= away.pauseMs ? leftMs : 0;
  };

  return {
    ...gateway,
    pausedMs,
    tookAt: () => tookAt,
    async send(batch) {
      if (away !== null && pausedMs({ isUrgent: true }) > 0) {
        const { kind: _, ...trouble } = away.trouble;
        return batch.map(() => ({ ...trouble, kind: 'retry' }));
      }
      const isTry = away !== null;
      if (away !== null) away.probedAt = clock();
      try {
        const results = await gateway.send(batch);
        const trouble = results.find(isTrouble);
        if (results.some(({ kind }) => kind === 'accepted')) tookAt = clock();
        if (results.some(({ kind }) => kind === 'accepted' || kind === 'rejected')) succeed();
        else if (trouble !== undefined) fail(trouble, isTry);
        return results;
      } finally {
        // An inconclusive probe, for example with only a dead token: the next batch is a probe too.
        if (isTry && away !== null && away.probedAt !== null) [away.tryAt, away.probedAt] = [clock(), null];
      }
    },
  };
}

function isTrouble(result: PushResult): result is Trouble {
  if (result.kind === 'unknown') return true;
  // Otherwise anyone who registers a device of another app could block all pushes.
  return (
    result.kind === 'retry' && ((result.remedy !== undefined && result.isOfToken !== true) || result.isTrouble === true)
  );
}
