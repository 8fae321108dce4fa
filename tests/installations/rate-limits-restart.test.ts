import { expect, test } from '@jest/globals';
import { createAccount, createTopic } from '../support/stack.ts';
import { useOwnStack } from '../support/use-own-stack.ts';

const { stack, store } = await useOwnStack({ TRUST_PROXY: '1' }, 'nodes');

const nodes = () => stack.servers.filter((server) => server.name.startsWith('api') || server.name === 'tocsin');

/** A new account: its window starts with the first publish, and a restart may take a good part of it. */
async function newPublisher() {
  const account = await createAccount(store, { urls: stack.urls });
  const { name } = await createTopic(account);
  return {
    remaining: async () => (await account.client.call('GET', '/api/users/me')).headers.get('x-ratelimit-remaining'),
    publish: (count: number) =>
      Promise.all(
        Array.from({ length: count }, (_, index) =>
          account.client.call('POST', `/${name}`, { text: 'x', node: index }),
        ),
      ),
  };
}

test('rate limits survive a SIGKILL of every node right after a response', async () => {
  const { publish, remaining } = await newPublisher();
  for (const { status } of await publish(4)) expect(status).toBe(200);
  await Promise.all(nodes().map((server) => server.kill()));
  await Promise.all(nodes().map((server) => server.start()));
  expect(await remaining()).toBe('6');
  const answers = await publish(10);
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(6);
});

test('rate limits survive a regular stop of every node', async () => {
  const { publish, remaining } = await newPublisher();
  for (const { status } of await publish(10)) expect(status).toBe(200);
  await Promise.all(nodes().map((server) => server.stop()));
  await Promise.all(nodes().map((server) => server.start()));
  expect(await remaining()).toBe('0');
  expect((await publish(1))[0]!.status).toBe(429);
});
