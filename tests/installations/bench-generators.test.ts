import { expect, test } from '@jest/globals';
import type { PublishLoad, PublishResult } from '../../tools/bench/generate-publishes.ts';
import type { ReplayLoad, ReplayResult } from '../../tools/bench/generate-replay.ts';
import { runGenerator } from '../../tools/bench/run-generator.ts';
import { createAccount, createTopic } from '../support/stack.ts';
import { useOwnStack } from '../support/use-own-stack.ts';

const { stack, store } = await useOwnStack({ RATE_LIMITS: 'off' });
/** More than a page of the log. */
const messages = 1_200;

test('the benchmark publishes messages, and reads them by pages of the log and from a stream', async () => {
  const account = await createAccount(store, { urls: stack.urls });
  const { name } = await createTopic(account);
  const load = {
    ports: stack.urls.map((url) => Number(new URL(url).port)),
    serverPids: [],
    enginePids: [],
    secondsMax: 60,
  };
  const publishing: PublishLoad = { ...load, paths: [`/${name}`], connections: 16, requests: messages, textBytes: 200 };
  const limits = { secondsMax: 100 };
  expect(await runGenerator<PublishResult>('generate-publishes.ts', publishing, limits)).toMatchObject({
    done: messages,
    not200: 0,
  });
  for (const by of ['log', 'sse'] as const) {
    const replay: ReplayLoad = { ...load, readers: 1, messages, topic: name, by };
    expect(await runGenerator<ReplayResult>('generate-replay.ts', replay, limits)).toMatchObject({ read: messages });
  }
});
