import type { BudgetState, BudgetWindow } from '../../../ports/bus/rate-limiter.ts';
import { BudgetCounters, endOfWindow } from '../../budget-counters.ts';
import type { RedisConnection } from './redis-connection.ts';
import { redisScript, runRedisScript } from './run-redis-script.ts';

/**
 * Input: the windows' keys; whether to count (1) or only read (0), then their limits, then the milliseconds to their
 * ends. Output: whether a use is accepted, then for each window the uses and the remaining milliseconds (negative: not
 * started).
 */
const countScript = redisScript(`
local n, accepted, uses, reply = #KEYS, 1, {}, {}
for i = 1, n do
  uses[i] = tonumber(redis.call('GET', KEYS[i]) or '0')
  if uses[i] >= tonumber(ARGV[1 + i]) then accepted = 0 end
end
reply[1] = accepted
for i = 1, n do
  local left = redis.call('PTTL', KEYS[i])
  if accepted == 1 and ARGV[1] == '1' then
    uses[i] = redis.call('INCR', KEYS[i])
    if left < 0 then
      left = tonumber(ARGV[1 + n + i])
      redis.call('PEXPIRE', KEYS[i], left)
    end
  end
  reply[2 * i] = uses[i]
  reply[2 * i + 1] = left
end
return reply`);

/**
 * Input: the windows' keys; for each the maximum remaining milliseconds of the taken window, negative for any. Refunds
 * one use of each window that has uses; the windows keep their ends.
 */
const refundScript = redisScript(`
for i = 1, #KEYS do
  local most = tonumber(ARGV[i])
  if tonumber(redis.call('GET', KEYS[i]) or '0') > 0 and (most < 0 or redis.call('PTTL', KEYS[i]) <= most) then
    redis.call('DECR', KEYS[i])
  end
end
return 0`);

/**
 * How much a window's end on a node can precede its end in Redis: more than the duration of a call, less than any
 * window.
 */
const endToleranceMs = 5_000;

/**
 * Counts budgets in Redis, atomically per call. Sends ends to Redis as remaining time, so that a node with a wrong
 * clock shortens or extends a window but never creates one that has already ended. While Redis is down or silent, this
 * process counts locally with the same limits.
 *
 * With Redis Cluster, the keys of one call must share a hash tag.
 */
export class RedisBudgets {
  readonly #connection: RedisConnection;
  readonly #keyPrefix: string;
  readonly #local = new BudgetCounters();

  constructor(connection: RedisConnection, keyPrefix: string) {
    this.#connection = connection;
    this.#keyPrefix = keyPrefix;
  }

  take(windows: readonly BudgetWindow[], now: number): Promise<BudgetState> {
    return this.#count(windows, now, true);
  }

  peek(windows: readonly BudgetWindow[], now: number): Promise<BudgetState> {
    return this.#count(windows, now, false);
  }

  async refund(windows: readonly BudgetWindow[], now: number): Promise<void> {
    const remainingMsMax = windows.map(({ span }) =>
      'endsAt' in span ? Math.max(0, Math.ceil(span.endsAt - now) + endToleranceMs) : -1,
    );
    try {
      await this.#connection.run((redis) =>
        runRedisScript(redis, refundScript, { keys: this.#keys(windows), args: remainingMsMax }),
      );
    } catch {
      this.#local.refund(windows, now);
    }
  }

  sweep(now: number): void {
    this.#local.sweep(now);
  }

  async #count(windows: readonly BudgetWindow[], now: number, countsUse: boolean): Promise<BudgetState> {
    const limits = windows.map(({ limit }) => limit);
    const lengths = windows.map((window) => Math.max(1, Math.ceil(endOfWindow(window, now) - now)));
    try {
      const input = { keys: this.#keys(windows), args: [countsUse ? 1 : 0, ...limits, ...lengths] };
      const reply = (await this.#connection.run((redis) => runRedisScript(redis, countScript, input))) as number[];
      return stateOf(reply, windows, now);
    } catch {
      return countsUse ? this.#local.take(windows, now) : this.#local.peek(windows, now);
    }
  }

  #keys(windows: readonly BudgetWindow[]): string[] {
    return windows.map(({ key }) => `${this.#keyPrefix}budget:${key}`);
  }
}

function stateOf(reply: readonly number[], windows: readonly BudgetWindow[], now: number): BudgetState {
  const states = windows.map((window, index) => {
    const [uses, left] = [reply[2 * index + 1]!, reply[2 * index + 2]!];
    return { remaining: Math.max(0, window.limit - uses), resetAt: left < 0 ? endOfWindow(window, now) : now + left };
  });
  return { accepted: reply[0] === 1, windows: states };
}
