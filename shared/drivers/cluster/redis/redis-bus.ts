import { coalescedInterval } from '../../../async/coalesced-timer.ts';
import { unavailable } from '../../../domain/errors.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { Logger } from '../../../platform/logger.ts';
import type { Bus } from '../../../ports/bus/bus.ts';
import type { ChannelSubscription } from '../../../ports/bus/pub-sub.ts';
import type { BudgetState, BudgetWindow } from '../../../ports/bus/rate-limiter.ts';
import { RedisBudgets } from './redis-budgets.ts';
import { RedisConnection } from './redis-connection.ts';
import { RedisConnectionCounts } from './redis-connection-counts.ts';
import { RedisSubscriptions } from './redis-subscriptions.ts';

export interface RedisBusOptions {
  readonly url: string;
  /** Prefix of all keys and channels, so that several installations can share a Redis server. */
  readonly keyPrefix: string;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * The bus of a cluster, on Redis 6 or later: one connection for commands, one for subscriptions. Resolves when both are
 * open, or after two seconds: a node can start while Redis is down and recovers later.
 */
export async function openRedisBus(options: RedisBusOptions): Promise<Bus> {
  const bus = new RedisBus(options);
  await bus.waitUntilOpen();
  return bus;
}

const openTimeoutMs = 2_000;
const sweepIntervalMs = 1_000;

class RedisBus implements Bus {
  readonly #log: Logger;
  readonly #channelPrefix: string;
  readonly #commands: RedisConnection;
  readonly #subscriber: RedisConnection;
  readonly #subscriptions: RedisSubscriptions;
  readonly #budgets: RedisBudgets;
  readonly #counts: RedisConnectionCounts;
  readonly #stopSweeps: () => void;
  readonly #connectedListeners = new Set<(connected: boolean) => void>();
  #areSubscriptionsReady = false;
  #isConnected = false;
  #isClosed = false;
  readonly #settled = Promise.withResolvers<void>();

  constructor({ url, keyPrefix, clock, log }: RedisBusOptions) {
    this.#log = log;
    this.#channelPrefix = `${keyPrefix}channel:`;
    this.#commands = new RedisConnection({ url, name: 'tocsin-bus', part: 'Bus', log });
    this.#subscriber = new RedisConnection({ url, name: 'tocsin-bus-listener', part: 'Bus', log });
    this.#budgets = new RedisBudgets(this.#commands, keyPrefix);
    this.#counts = new RedisConnectionCounts(this.#commands, keyPrefix);
    this.#subscriptions = new RedisSubscriptions(this.#subscriber, {
      prefix: this.#channelPrefix,
      log,
      onReady: (isReady) => {
        this.#areSubscriptionsReady = isReady;
        this.#updateConnected();
      },
    });
    this.#commands.onChange(() => this.#updateConnected());
    this.#stopSweeps = coalescedInterval(sweepIntervalMs, () => this.#budgets.sweep(clock()));
  }

  async waitUntilOpen(): Promise<void> {
    const timer = setTimeout(this.#settled.resolve, openTimeoutMs);
    await this.#settled.promise;
    clearTimeout(timer);
    if (!this.#isConnected)
      this.#log.warn({ err: this.#commands.lastError ?? this.#subscriber.lastError }, 'Redis unreachable, retrying');
  }

  /** Redis does not say cheaply which channels have subscribers on other nodes. */
  isHeard(_channel: string): boolean {
    return true;
  }

  get isConnected(): boolean {
    return this.#isConnected;
  }

  #updateConnected(): void {
    const isConnected = this.#commands.isUp && this.#areSubscriptionsReady && !this.#isClosed;
    if (isConnected === this.#isConnected) return;
    this.#isConnected = isConnected;
    if (isConnected) this.#settled.resolve();
    for (const listener of this.#connectedListeners) {
      try {
        listener(isConnected);
      } catch (error) {
        this.#log.error({ err: error }, 'a bus listener failed');
      }
    }
  }

  async publish(channel: string, payloads: readonly string[]): Promise<void> {
    const name = this.#channelPrefix + channel;
    await this.#commands.run(async (redis) => {
      const [first] = payloads;
      if (first === undefined) return;
      if (payloads.length === 1) {
        await redis.publish(name, first);
        return;
      }
      const pipeline = redis.pipeline();
      for (const payload of payloads) pipeline.publish(name, payload);
      const failed = (await pipeline.exec())?.find(([error]) => error !== null);
      if (failed !== undefined) throw failed[0];
    });
  }

  async subscribe(channel: string, listener: (payload: string) => void): Promise<ChannelSubscription> {
    if (this.#isClosed) throw unavailable('Bus');
    return await this.#subscriptions.subscribe(channel, listener);
  }

  onConnected(listener: (connected: boolean) => void): () => void {
    this.#connectedListeners.add(listener);
    return () => this.#connectedListeners.delete(listener);
  }

  takeBudget(windows: readonly BudgetWindow[], now: number): Promise<BudgetState> {
    return this.#budgets.take(windows, now);
  }

  peekBudget(windows: readonly BudgetWindow[], now: number): Promise<BudgetState> {
    return this.#budgets.peek(windows, now);
  }

  refundBudget(windows: readonly BudgetWindow[], now: number): Promise<void> {
    return this.#budgets.refund(windows, now);
  }

  announceConnections(nodeId: string, counts: ReadonlyMap<string, number>): Promise<void> {
    return this.#counts.announce(nodeId, counts);
  }

  countConnections(key: string, exceptNodeId: string): Promise<number> {
    return this.#counts.count(key, exceptNodeId);
  }

  async ping(): Promise<void> {
    if (!this.#isConnected) throw unavailable('Bus');
    await this.#commands.run((redis) => redis.ping());
  }

  close(): Promise<void> {
    this.#isClosed = true;
    this.#isConnected = false;
    this.#stopSweeps();
    this.#connectedListeners.clear();
    this.#subscriptions.close();
    this.#subscriber.close();
    this.#commands.close();
    return Promise.resolve();
  }
}
