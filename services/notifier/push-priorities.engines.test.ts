import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { pushQueueOf } from '@tocsin/shared/domain/push-job.ts';
import type { Priority } from '@tocsin/shared/domain/message.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { engineUnderTest, enginesUnderTest } from '@tocsin/shared/testing/test-engine.ts';
import type { PushGateway } from './push-gateways/push-gateway.ts';
import { openPushInstallation, type PushInstallation } from './push-installation.fixtures.ts';

const floodPages = 200;
const subscribers = 5;
/** How long a page takes at the provider: a flood of them keeps the notifier busy for seconds. */
const pageMs = 60;

describe(`pushes of different priorities, ${engineUnderTest}`, () => {
  let at: PushInstallation;
  beforeEach(async () => {
    at = await openPushInstallation(enginesUnderTest());
  });
  afterEach(() => at.close());

  test.each<[Priority, Priority]>([[1, 5], [5, 1]])('200 pages of priority %i hold up a message of priority %i by less than two seconds', async (many, single) => {
    const sent = new Map<string, number>();
    const gateway: PushGateway = {
      batchSizeMax: 100, payloadBytesMax: 4_096,
      async send(batch) {
        await pause(pageMs);
        for (const { collapseId } of batch) sent.set(collapseId, (sent.get(collapseId) ?? 0) + 1);
        return batch.map(() => ({ kind: 'accepted' }));
      },
      close: () => Promise.resolve(),
    };
    const topic = await at.addTopic();
    await at.addSubscribers(topic, subscribers);
    const flood = await Promise.all(Array.from({ length: floodPages }, () => at.publish(topic, { priority: many })));
    await at.start({}, { gateways: new Map([['expo', gateway]]) });
    await eventually(async () => (await at.engine.jobQueue.counts(pushQueueOf(many))).waiting > floodPages / 2, { timeoutMs: 20_000, intervalMs: 10 });
    const publishedAt = performance.now();
    const message = await at.publish(topic, { priority: single });
    await eventually(() => sent.get(message.id) === subscribers, { timeoutMs: 20_000, intervalMs: 5 });
    const heldUpMs = performance.now() - publishedAt;
    const floodLeft = flood.filter(({ id }) => !sent.has(id)).length;
    process.stdout.write(`${JSON.stringify({ test: 'push priorities', engine: engineUnderTest, many, single, heldUpMs: Math.round(heldUpMs), pagesLeft: floodLeft })}\n`);
    expect(floodLeft).toBeGreaterThan(0);
    expect(heldUpMs).toBeLessThan(2_000);
  });
});
