import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { describeWithEngines } from '../../../testing/describe-with-engines.ts';
import { redisScript, runRedisScript } from './run-redis-script.ts';

describeWithEngines('redis: scripts', ({ redisUrl }) => {
  test('sends an unknown script once, and then runs it by its hash', async () => {
    const redis = new Redis(redisUrl);
    const script = redisScript(`-- ${randomUUID()}\nreturn {KEYS[1], ARGV[1]}`);
    for (let n = 0; n < 2; n += 1)
      expect(await runRedisScript(redis, script, { keys: ['a'], args: [n] })).toEqual(['a', `${n}`]);
    expect(await redis.script('EXISTS', script.sha)).toEqual([1]);
    await redis.quit();
  });

  test('throws for a failing script', async () => {
    const redis = new Redis(redisUrl);
    await expect(
      runRedisScript(redis, redisScript("return redis.error_reply('no')"), { keys: [], args: [] }),
    ).rejects.toThrow('no');
    await redis.quit();
  });
});
