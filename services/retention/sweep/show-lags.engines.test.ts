import { afterAll, describe, expect, test } from '@jest/globals';
import { Registry } from 'prom-client';
import { logConsumers } from '@tocsin/shared/collections/log-consumers.ts';
import { closers } from '@tocsin/shared/platform/lifecycle.ts';
import { newConsumer, newId, newMessage } from '@tocsin/shared/testing/builders.ts';
import { engineUnderTest, openOwnEngine } from '@tocsin/shared/testing/test-engine.ts';
import { showConsumerLag } from './show-lags.ts';

const own = closers();
afterAll(() => own.closeAll());
const { engine } = await openOwnEngine(own);
const { documents, messages } = engine;
const clock = Date.now;

async function addConsumer(topicId: string, name: string, of: { offset: number; updatedAt: number }): Promise<void> {
  await documents.insert(logConsumers, newConsumer({ topicId, name, offset: of.offset }, of));
}

describe(`the lag of consumers, ${engineUnderTest}`, () => {
  test('has a value for each of the 100 that are furthest behind, and sums the others by state', async () => {
    const topicId = newId();
    for (let offset = 0; offset < 3; offset += 1) {
      const message = newMessage(topicId);
      const record = { type: 'message', timestamp: message.timestamp, message } as const;
      await messages.apply([{ partition: 0, offset, record }]);
    }
    const monthAgo = clock() - 30 * 86_400_000;
    for (let n = 0; n < 100; n += 1) await addConsumer(topicId, `first-${n}`, { offset: 0, updatedAt: clock() });
    for (let n = 0; n < 7; n += 1) await addConsumer(topicId, `active-${n}`, { offset: 2, updatedAt: clock() });
    for (let n = 0; n < 5; n += 1) await addConsumer(topicId, `idle-${n}`, { offset: 1, updatedAt: monthAgo });
    await addConsumer(topicId, 'current', { offset: 3, updatedAt: clock() });
    const registry = new Registry();
    showConsumerLag(registry, { engine, clock, config: { RETENTION_PROTECT_CONSUMERS: false } });
    const [metric] = await registry.getMetricsAsJSON();
    const values = metric!.values.map(({ labels, value }) => [labels['consumer'], labels['state'], value]);
    expect(values).toHaveLength(102);
    expect(values).toEqual(
      expect.arrayContaining([
        ['first-0', 'active', 3],
        ['first-99', 'active', 3],
        ['', 'active', 7],
        ['', 'idle', 10],
      ]),
    );
  });
});
