import type { Clock } from '@tocsin/shared/platform/clock.ts';

/** Consecutive failures before a push service counts as down: a single cut connection says nothing. */
const failuresMax = 3;
/** The first pause between probes of a push service that is down; it doubles. */
const pauseMs = { first: 1_000, max: 30_000 } as const;
/** Beyond this number the state of the host that was used first is forgotten; browsers choose the hosts. */
const hostsMax = 256;

interface HostState {
  readonly failures: number;
  readonly pauseMs: number;
  readonly tryAt: number;
}

const healthy: HostState = { failures: 0, pauseMs: pauseMs.first, tryAt: 0 };

/**
 * The health of each push service, so that an outage of one of them delays no pushes to the others.
 * `mainHosts` are the hosts that browsers cannot invent, which wildcards allow.
 */
export class PushServiceHealth {
  readonly #mainHosts: ReadonlySet<string>;
  readonly #clock: Clock;
  readonly #states = new Map<string, HostState>();

  constructor(mainHosts: Iterable<string>, clock: Clock) {
    this.#mainHosts = new Set(mainHosts);
    this.#clock = clock;
  }

  succeed(host: string): void {
    this.#set(host, healthy);
  }

  fail(host: string): void {
    const now = this.#clock();
    const known = this.#states.get(host) ?? healthy;
    const failures = known.failures + 1;
    if (failures < failuresMax) return this.#set(host, { ...known, failures });
    if (known.tryAt > now) return; // a request that began before the pause
    const longer = known.tryAt === 0 ? known.pauseMs : Math.min(known.pauseMs * 2, pauseMs.max);
    this.#set(host, { failures, pauseMs: longer, tryAt: now + longer });
  }

  /** How long to send nothing to the host; 0 if it is available or due for a probe. */
  pausedMs(host: string): number {
    const { tryAt, pauseMs: wholeMs } = this.#states.get(host) ?? healthy;
    if (tryAt === 0 || this.isOutage(host)) return 0;
    const leftMs = Math.max(tryAt - this.#clock(), 0);
    // A pause that seems longer than it was began before the clock was set back.
    return leftMs <= wholeMs ? leftMs : 0;
  }

  /** Whether the failing host is a main one and no other main one is available, so that any push would fail. */
  isOutage(host: string): boolean {
    if (!this.#mainHosts.has(host)) return false;
    return ![...this.#mainHosts].some((other) => other !== host && this.#states.get(other)?.failures === 0);
  }

  #set(host: string, state: HostState): void {
    if (!this.#states.has(host) && this.#states.size >= hostsMax)
      this.#states.delete(this.#states.keys().next().value!);
    this.#states.set(host, state);
  }
}
