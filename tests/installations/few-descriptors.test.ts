import { spawnSync } from 'node:child_process';
import { get } from 'node:http';
import { connect } from 'node:net';
import { afterAll, expect, test } from '@jest/globals';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { describeUnlessMissing } from '../../tools/test/describe-unless-missing.ts';
import { useOwnStack } from '../support/use-own-stack.ts';

const descriptors = 400;
const prlimit = (...args: string[]) => spawnSync('prlimit', args, { encoding: 'utf8' });
const { stack } = await useOwnStack();
const missing = prlimit('--version').status === 0 ? [] : ['prlimit'];

describeUnlessMissing('a node with few file descriptors', missing, () => {
  const silent: ReturnType<typeof connect>[] = [];
  afterAll(() => silent.forEach((socket) => socket.destroy()));

  test('is reachable again soon after silent connections have used them up', async () => {
    const url = new URL('/health/live', stack.urls[0]);
    expect(prlimit('--pid', String(stack.apiPids()[0]), `--nofile=${descriptors}`)).toMatchObject({ status: 0 });
    const status = () =>
      new Promise<number | null>((resolve) => {
        get(url, { agent: false }, (response) => resolve(response.resume().statusCode!)).on('error', () =>
          resolve(null),
        );
      });
    // More than the descriptors: the limit on connections was set at the start, for more of them.
    for (let count = 0; count < descriptors + 20; count += 1) {
      const socket = connect({ host: url.hostname, port: Number(url.port), allowHalfOpen: true });
      silent.push(socket.on('error', () => undefined).resume());
    }
    await eventually(async () => expect(await status()).toBeNull());
    // Headers must arrive within 15 s, which the server checks every 5 s.
    await eventually(async () => expect(await status()).toBe(200), { timeoutMs: 60_000 });
  });
});
