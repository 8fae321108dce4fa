import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';

/** A Lua script that Redis runs atomically. */
export interface RedisScript {
  readonly lua: string;
  readonly sha: string;
}

export const redisScript = (lua: string): RedisScript => ({ lua, sha: createHash('sha1').update(lua).digest('hex') });

/** Runs the script by its hash. If Redis does not know it (initially or after a restart), sends its text. */
export async function runRedisScript(
  redis: Redis,
  script: RedisScript,
  input: { keys: readonly string[]; args: readonly (string | number)[] },
): Promise<unknown> {
  const { keys, args } = input;
  try {
    return await redis.evalsha(script.sha, keys.length, ...keys, ...args);
  } catch (error) {
    if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error;
    return await redis.eval(script.lua, keys.length, ...keys, ...args);
  }
}
