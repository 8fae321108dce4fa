import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { expect, test } from '@jest/globals';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { createTopic, newAddress, testStack } from '../support/stack.ts';
import { established, systemEnds } from '../support/system-ends.ts';
import { useStack } from '../support/use-stack.ts';

const stack = useStack();
/** More than the system buffers for both ends of a connection. */
const messages = 420;
const text = '\u{1F514}'.repeat(4_000);

test.each([
  ['SSE', (name: string) => `/${name}/sse`, {}],
  ['NDJSON', (name: string) => `/api/topics/${name}/log?follow=true`, { Accept: 'application/x-ndjson' }],
])(
  'an %s connection whose topic was deleted is closed within 5 s even if its client does not read',
  async (_, path, headers) => {
    const owner = await stack.person();
    const topic = await createTopic(owner);
    const sent = get(testStack().urls[0] + path(topic.name), {
      headers: { 'X-Forwarded-For': newAddress(), ...headers },
      agent: false,
    });
    sent.on('error', () => undefined);
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    response.on('error', () => undefined).pause();
    const publish = () =>
      fetch(`${testStack().urls[0]}/${topic.name}`, {
        method: 'POST',
        body: text,
        headers: { 'X-Forwarded-For': newAddress() },
      });
    for (let index = 0; index < messages; index += 20) await Promise.all(Array.from({ length: 20 }, publish));
    const isOpen = () => systemEnds(response.socket).every(({ state }) => state === established);
    expect(isOpen()).toBe(true);
    await owner.delete(`/api/topics/${topic.id}`);
    const deletedAt = performance.now();
    await eventually(() => !isOpen(), { timeoutMs: 30_000 });
    // The rest is a margin for a loaded machine.
    expect(performance.now() - deletedAt).toBeLessThan(8_000);
    sent.destroy();
  },
);
