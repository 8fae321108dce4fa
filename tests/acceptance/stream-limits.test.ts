import { beforeAll, expect, test } from '@jest/globals';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { createTopic, newAddress, testStack } from '../support/stack.ts';
import { useStack } from '../support/use-stack.ts';
import { transports, useStreams } from '../support/use-streams.ts';

const stack = useStack();
const streams = useStreams();
let topic: string;
beforeAll(async () => {
  topic = (await createTopic(await stack.person())).name;
});

test.each(transports)(
  'an address has at most 50 streams over %s under concurrent opens, and a new one after one ended',
  async (transport) => {
    const address = newAddress();
    // One node counts exactly; other nodes report theirs within seconds.
    const open = () => streams.open(transport, { topic }, { address, node: 0 });
    const opened = await Promise.all(Array.from({ length: 56 }, open));
    const isOpen = ({ status }: { status: number }) => status === (transport === 'sse' ? 200 : 101);
    expect(opened.filter(isOpen)).toHaveLength(50);
    for (const refused of opened.filter((stream) => !isOpen(stream))) {
      expect([refused.status, refused.body]).toEqual([429, { detail: 'Too many open streams' }]);
      expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
      expect(refused.headers).toMatchObject({ 'x-ratelimit-limit': '50', 'x-ratelimit-remaining': '0' });
      expect(Number(refused.headers['x-ratelimit-reset'])).toBeGreaterThanOrEqual(Math.floor(Date.now() / 1000));
    }
    opened.find(isOpen)!.close();
    await eventually(async () => isOpen(await open()));
  },
);

test('streams with a credential count for the credential, not for the address', async () => {
  const address = newAddress();
  const { client } = await stack.person();
  const opened = await Promise.all(
    Array.from({ length: 56 }, () => streams.sse(`/${topic}/sse`, { address, token: client.token })),
  );
  expect(opened.map(({ status }) => status)).toEqual(Array<number>(56).fill(200));
});

test('requests that wait for a message count as open streams', async () => {
  const address = newAddress();
  const waiting = new AbortController();
  const poll = async () => {
    const answer = await fetch(`${testStack().urls[0]}/${topic}/json?since=1s&wait=60`, {
      headers: { 'X-Forwarded-For': address },
      signal: waiting.signal,
    });
    return [answer.status, await answer.json()];
  };
  const polls = Array.from({ length: 51 }, poll);
  expect(await Promise.race(polls)).toEqual([429, { detail: 'Too many open streams' }]);
  waiting.abort();
  await Promise.allSettled(polls);
});
