import { randomUUID } from 'node:crypto';
import type { RedisConnection } from './redis-connection.ts';
import { redisScript, runRedisScript } from './run-redis-script.ts';

/** How long a node counts after its last announcement. */
const lifeMs = 15_000;
/** Limits how long one script blocks Redis. */
const changesPerScript = 1_000;
/** The keys of an expired node that an announcement removes. Their counts are ignored before. */
const sweptPerAnnouncement = 500;
/** Limits the arguments of a command in a script. */
const nodesPerLookup = 1_000;

/**
 * Input: the set of nodes, the node's announcement, the set of its keys; the prefix of these two, the prefix of the
 * counts of a key, the node's ID, the name of the announcement on which this one is based (empty: replaces all counts),
 * its own name, then alternating keys and counts, 0 for removed keys. Removes keys of an expired node. Output: 0 if the
 * node has another announcement or none, and nothing changed.
 */
const announceScript = redisScript(`
local node = ARGV[3]
if ARGV[4] == '' then
  for _, key in ipairs(redis.call('SMEMBERS', KEYS[3])) do redis.call('HDEL', ARGV[2] .. key, node) end
  redis.call('DEL', KEYS[3])
elseif redis.call('GET', KEYS[2]) ~= ARGV[4] then return 0 end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('SET', KEYS[2], ARGV[5], 'PX', ${lifeMs})
redis.call('ZADD', KEYS[1], now + ${lifeMs}, node)
for i = 6, #ARGV, 2 do
  local counts = ARGV[2] .. ARGV[i]
  if ARGV[i + 1] == '0' then
    redis.call('HDEL', counts, node)
    redis.call('SREM', KEYS[3], ARGV[i])
  else
    redis.call('HSET', counts, node, ARGV[i + 1])
    redis.call('SADD', KEYS[3], ARGV[i])
  end
end
local expired = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', 0, 1)[1]
if expired then
  local keys = redis.call('SPOP', ARGV[1] .. 'keys:' .. expired, ${sweptPerAnnouncement})
  for _, key in ipairs(keys) do redis.call('HDEL', ARGV[2] .. key, expired) end
  if #keys < ${sweptPerAnnouncement} then redis.call('ZREM', KEYS[1], expired) end
end
return 1`);

/**
 * Input: the counts of the key by node; the prefix of a node's announcement, a node to exclude. Output: the sum over
 * the other live nodes.
 */
const countScript = redisScript(`
local sum = 0
local counts = redis.call('HGETALL', KEYS[1])
for first = 1, #counts, ${2 * nodesPerLookup} do
  local announcements = {}
  local last = math.min(first + ${2 * nodesPerLookup - 1}, #counts)
  for i = first, last, 2 do announcements[#announcements + 1] = ARGV[1] .. counts[i] end
  local live = redis.call('MGET', unpack(announcements))
  for i = first, last, 2 do
    if live[(i - first) / 2 + 1] and counts[i] ~= ARGV[2] then sum = sum + counts[i + 1] end
  end
end
return sum`);

/** What a node announced last. */
interface Announced {
  readonly name: string;
  readonly counts: ReadonlyMap<string, number>;
}

/**
 * The connection counts: a hash per key with the count of each node, and per node a value that expires with it. So an
 * announcement costs what changed, and a count costs the nodes that have the key.
 */
export class RedisConnectionCounts {
  readonly #connection: RedisConnection;
  readonly #prefix: string;
  readonly #announced = new Map<string, Announced>();

  constructor(connection: RedisConnection, keyPrefix: string) {
    this.#connection = connection;
    this.#prefix = `${keyPrefix}{presence}:`;
  }

  async announce(nodeId: string, counts: ReadonlyMap<string, number>): Promise<void> {
    const before = this.#announced.get(nodeId);
    this.#announced.delete(nodeId); // unknown until the response
    const name =
      (before !== undefined && (await this.#sendAll(nodeId, before.name, changesOf(before.counts, counts)))) ||
      (await this.#sendAll(nodeId, '', [...counts]));
    if (name !== null) this.#announced.set(nodeId, { name, counts });
  }

  /** Returns the name of the last announcement; null if the node's state is not the one of `before`. */
  async #sendAll(
    nodeId: string,
    before: string,
    changes: readonly (readonly [string, number])[],
  ): Promise<string | null> {
    let name = before;
    for (let at = 0; at === 0 || at < changes.length; at += changesPerScript) {
      const next = randomUUID();
      const isStored = await this.#send(nodeId, [name, next], changes.slice(at, at + changesPerScript));
      if (!isStored) return null;
      name = next;
    }
    return name;
  }

  async #send(
    nodeId: string,
    names: readonly [before: string, name: string],
    changes: readonly (readonly [string, number])[],
  ): Promise<boolean> {
    const keys = [`${this.#prefix}nodes`, this.#announcementPrefix + nodeId, `${this.#prefix}keys:${nodeId}`];
    const args = [this.#prefix, this.#countsPrefix, nodeId, ...names, ...changes.flat()];
    return (await this.#connection.run((redis) => runRedisScript(redis, announceScript, { keys, args }))) === 1;
  }

  async count(key: string, exceptNodeId: string): Promise<number> {
    const input = { keys: [this.#countsPrefix + key], args: [this.#announcementPrefix, exceptNodeId] };
    return (await this.#connection.run((redis) => runRedisScript(redis, countScript, input))) as number;
  }

  get #announcementPrefix(): string {
    return `${this.#prefix}announced:`;
  }

  get #countsPrefix(): string {
    return `${this.#prefix}counts:`;
  }
}

function changesOf(before: ReadonlyMap<string, number>, now: ReadonlyMap<string, number>): [string, number][] {
  const removed = [...before.keys()].filter((key) => !now.has(key)).map((key): [string, number] => [key, 0]);
  return [...removed, ...[...now].filter(([key, count]) => before.get(key) !== count)];
}
