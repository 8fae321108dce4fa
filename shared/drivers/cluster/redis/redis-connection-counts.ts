import { randomUUID } from 'node:crypto';
import type { RedisConnection } from './redis-connection.ts';
import { redisScript, runRedisScript } from './run-redis-script.ts';

/** The field of a node's hash with the name of its last announcement; no key of a count is empty. */
const announcement = '';

/**
 * Input: the set of nodes, the node's hash; the node's ID, the lifetime in milliseconds, the announcement on which this
 * one is based (empty: replaces the hash), this announcement, then alternating keys and counts, 0 for removed keys.
 * Removes expired nodes. Uses Redis's clock. Output: 0 if the hash has another announcement, and nothing changed.
 */
const announceScript = redisScript(`
if ARGV[3] == '' then redis.call('DEL', KEYS[2])
elseif redis.call('HGET', KEYS[2], '${announcement}') ~= ARGV[3] then return 0 end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
redis.call('HSET', KEYS[2], '${announcement}', ARGV[4])
for i = 5, #ARGV, 2 do
  if ARGV[i + 1] == '0' then redis.call('HDEL', KEYS[2], ARGV[i])
  else redis.call('HSET', KEYS[2], ARGV[i], ARGV[i + 1]) end
end
redis.call('PEXPIRE', KEYS[2], ARGV[2])
return 1`);

/**
 * Input: the set of nodes; the prefix of a node's hash, the key, a node to exclude. Output: the sum over the other live
 * nodes.
 */
const countScript = redisScript(`
local sum = 0
for _, node in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
  if node ~= ARGV[3] then sum = sum + tonumber(redis.call('HGET', ARGV[1] .. node, ARGV[2]) or '0') end
end
return sum`);

/** How long a node counts after its last announcement. */
const lifeMs = 15_000;

/** What a node announced last. */
interface Announced {
  readonly name: string;
  readonly counts: ReadonlyMap<string, number>;
}

/** The connection counts per node: one hash per node that expires with it. Only changed counts are sent. */
export class RedisConnectionCounts {
  readonly #connection: RedisConnection;
  readonly #nodesKey: string;
  readonly #nodePrefix: string;
  readonly #announced = new Map<string, Announced>();

  constructor(connection: RedisConnection, keyPrefix: string) {
    this.#connection = connection;
    this.#nodesKey = `${keyPrefix}{connections}`;
    this.#nodePrefix = `${keyPrefix}{connections}:`;
  }

  async announce(nodeId: string, counts: ReadonlyMap<string, number>): Promise<void> {
    const before = this.#announced.get(nodeId);
    this.#announced.delete(nodeId); // unknown until the response
    const name = randomUUID();
    const isStored =
      before !== undefined && (await this.#send(nodeId, { before, name, changes: changesOf(before.counts, counts) }));
    if (!isStored) await this.#send(nodeId, { name, changes: [...counts] });
    this.#announced.set(nodeId, { name, counts });
  }

  async #send(
    nodeId: string,
    { before, name, changes }: { before?: Announced; name: string; changes: readonly [string, number][] },
  ): Promise<boolean> {
    const keys = [this.#nodesKey, this.#nodePrefix + nodeId];
    const args = [nodeId, lifeMs, before?.name ?? '', name, ...changes.flat()];
    return (await this.#connection.run((redis) => runRedisScript(redis, announceScript, { keys, args }))) === 1;
  }

  async count(key: string, exceptNodeId: string): Promise<number> {
    const input = { keys: [this.#nodesKey], args: [this.#nodePrefix, key, exceptNodeId] };
    return (await this.#connection.run((redis) => runRedisScript(redis, countScript, input))) as number;
  }
}

function changesOf(before: ReadonlyMap<string, number>, now: ReadonlyMap<string, number>): [string, number][] {
  const removed = [...before.keys()].filter((key) => !now.has(key)).map((key): [string, number] => [key, 0]);
  return [...removed, ...[...now].filter(([key, count]) => before.get(key) !== count)];
}
