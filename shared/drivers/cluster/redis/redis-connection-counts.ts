import type { RedisConnection } from './redis-connection.ts';
import { redisScript, runRedisScript } from './run-redis-script.ts';

/**
 * Input: the set of nodes, the node's hash; the node's ID, the lifetime in milliseconds, then alternating keys and
 * counts. Replaces the node's hash, and removes expired nodes. Uses Redis's clock.
 */
const announceScript = redisScript(`
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
redis.call('DEL', KEYS[2])
for i = 3, #ARGV, 2 do redis.call('HSET', KEYS[2], ARGV[i], ARGV[i + 1]) end
redis.call('PEXPIRE', KEYS[2], ARGV[2])
return 0`);

/** Input: the set of nodes; the prefix of a node's hash, the key, a node to exclude. Output: the sum over the other live nodes. */
const countScript = redisScript(`
local sum = 0
for _, node in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
  if node ~= ARGV[3] then sum = sum + tonumber(redis.call('HGET', ARGV[1] .. node, ARGV[2]) or '0') end
end
return sum`);

/** How long a node counts after its last announcement. */
const lifeMs = 15_000;

/** The connection counts per node: one hash per node that expires with it. */
export class RedisConnectionCounts {
  readonly #connection: RedisConnection;
  readonly #nodesKey: string;
  readonly #nodePrefix: string;

  constructor(connection: RedisConnection, keyPrefix: string) {
    this.#connection = connection;
    this.#nodesKey = `${keyPrefix}{connections}`;
    this.#nodePrefix = `${keyPrefix}{connections}:`;
  }

  async announce(nodeId: string, counts: ReadonlyMap<string, number>): Promise<void> {
    const keys = [this.#nodesKey, this.#nodePrefix + nodeId];
    await this.#connection.run((redis) =>
      runRedisScript(redis, announceScript, { keys, args: [nodeId, lifeMs, ...[...counts].flat()] }),
    );
  }

  async count(key: string, exceptNodeId: string): Promise<number> {
    const input = { keys: [this.#nodesKey], args: [this.#nodePrefix, key, exceptNodeId] };
    return (await this.#connection.run((redis) => runRedisScript(redis, countScript, input))) as number;
  }
}
