import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { pushQueueOf } from '@tocsin/shared/domain/push/push-job.ts';
import type { Priority } from '@tocsin/shared/domain/messages/message.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { engineUnderTest, enginesUnderTest } from '@tocsin/shared/testing/test-engine.ts';
import type { PushGateway } from './providers/push-gateway.ts';
import { openPushInstallation, type PushInstallation } from './push-installation.fixtures.ts';

const floodPages = 200;
const subscribers = 5;
/** The provider's time per page: a flood keeps the notifier busy for seconds. */
const pageMs = 60;
/**
 * Pages of the flood that may start between the other message's job and its push: the concurrent ones. If it waited for
 * the flood, there would be more than a hundred. Counted, not timed, because a busy machine slows both.
 */
const pagesBeforeMax = 40;

describe(`pushes of different priorities, ${engineUnderTest}`, () => {
  let at: PushInstallation;
  beforeEach(async () => {
    at = await openPushInstallation(enginesUnderTest());
  });
  afterEach(() => at.close());

  test.each<[Priority, Priority]>([
    [1, 5],
    [5, 1],
  ])('a message is not delayed by 200 pages (priorities %i and %i)', async (many, single) => {
    const begun: string[] = [];
    const gateway: PushGateway = {
      batchSizeMax: 100,
      payloadBytesMax: 4_096,
      async send(batch) {
        begun.push(batch[0]!.collapseId);
        await pause(pageMs);
        return batch.map(() => ({ kind: 'accepted' }));
      },
      close: () => Promise.resolve(),
    };
    const { jobQueue } = at.engine;
    const add = jobQueue.add.bind(jobQueue);
    /** The number of started pages before a message's job was stored. */
    const begunBefore = new Map<unknown, number>();
    jobQueue.add = (queue, jobs) => {
      for (const { data } of jobs) begunBefore.set(data['messageId'], begun.length);
      return add(queue, jobs);
    };
    const topic = await at.addTopic();
    await at.addSubscribers(topic, subscribers);
    const flood = await Promise.all(Array.from({ length: floodPages }, () => at.publish(topic, { priority: many })));
    await at.start({}, { gateways: new Map([['expo', gateway]]) });
    await eventually(async () => (await jobQueue.counts(pushQueueOf(many))).waiting > floodPages / 2, {
      intervalMs: 10,
    });
    const publishedAt = performance.now();
    const message = await at.publish(topic, { priority: single });
    await eventually(() => begun.includes(message.id), { intervalMs: 5 });
    const heldUpMs = performance.now() - publishedAt;
    const pagesBefore = begun.indexOf(message.id) - begunBefore.get(message.id)!;
    const pagesLeft = flood.filter(({ id }) => !begun.includes(id)).length;
    process.stdout.write(
      `${JSON.stringify({ test: 'push priorities', engine: engineUnderTest, many, single, heldUpMs: Math.round(heldUpMs), pagesBefore, pagesLeft })}\n`,
    );
    expect(pagesLeft).toBeGreaterThan(0);
    expect(pagesBefore).toBeLessThanOrEqual(pagesBeforeMax);
  });
});
