import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { expect, test } from '@jest/globals';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { printMeasurements } from '@tocsin/shared/testing/figures.ts';
import { createTopic, newAddress, testStack } from '../support/stack.ts';
import { established, systemEnds } from '../support/system-ends.ts';
import { useStack } from '../support/use-stack.ts';

const stack = useStack();
/** More than the system buffers for both ends of a connection. */
const messages = 420;
/** From the loss of access, and the interval at which the test looks. */
const [closedMsMax, lookMs] = [5_000, 50];
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
    // On a loaded machine, the node's responses are late by as much as its timers.
    let slowestMs = 0;
    await eventually(
      async () => {
        const askedAt = performance.now();
        await fetch(`${testStack().urls[0]}/health/live`);
        slowestMs = Math.max(slowestMs, performance.now() - askedAt);
        return !isOpen();
      },
      { intervalMs: lookMs },
    );
    const closedMs = performance.now() - deletedAt;
    printMeasurements('stalled client', { closedMs, slowestMs });
    expect(closedMs).toBeLessThan(closedMsMax + lookMs + 2 * slowestMs);
    sent.destroy();
  },
);
