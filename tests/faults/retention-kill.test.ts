import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import type { Engine } from '@tocsin/shared/ports/engine.ts';
import { closers, type Closers } from '@tocsin/shared/platform/lifecycle.ts';
import { topics } from '@tocsin/shared/collections/topics.ts';
import { newId, newTopic } from '@tocsin/shared/testing/builders.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { newTestPlace, type TestPlace } from '@tocsin/shared/testing/test-engine.ts';
import { describeWithEngines, type TestEngines } from '@tocsin/shared/testing/describe-with-engines.ts';
import { printMeasurements } from '@tocsin/shared/testing/figures.ts';
import {
  engineOf,
  hourMs,
  kill9,
  openCount,
  pageSize,
  pagesOf,
  startRetention,
  storeMessages,
  withEngine,
  type Positions,
} from './retention-process.ts';

const expiredCount = Number(process.env['TOCSIN_EXPIRED'] ?? 10_000);
const keptCount = Number(process.env['TOCSIN_KEPT'] ?? 500);
const heldCount = 500;
const kills = Number(process.env['TOCSIN_KILLS'] ?? 1);
/** The leases of a dead worker's run and job; MongoDB may keep its transaction open for more than a minute. */
const patienceMs = 120_000;

describe('killing retention during a sweep, embedded', () => killTests(undefined));
describeWithEngines('killing retention during a sweep, on a cluster', (engines) => killTests(engines));

function killTests(engines: TestEngines | undefined): void {
  let own: Closers;
  let place: TestPlace;

  beforeEach(() => {
    own = closers();
    place = newTestPlace(engines);
    own.add(() => place.remove());
  });
  afterEach(() => own.closeAll());

  // Three hours ago no message had expired: expired messages are no longer stored.
  const fill = () =>
    withEngine(
      place,
      () => Date.now() - 3 * hourMs,
      async (engine) => {
        const both = [
          await engine.documents.insert(topics, newTopic(newId())),
          await engine.documents.insert(topics, newTopic(newId(), { isHeld: true })),
        ] as const;
        await storeMessages(engine, both[0], { count: expiredCount, from: 0, expiresAt: Date.now() - hourMs });
        await storeMessages(engine, both[0], { count: keptCount, from: expiredCount, expiresAt: Date.now() + hourMs });
        await storeMessages(engine, both[1], {
          count: heldCount,
          from: expiredCount + keptCount,
          expiresAt: Date.now() - hourMs,
        });
        return both;
      },
    );
  /** Resolves with the drift of the counts. */
  const driftOf = ([topic, held]: readonly [Topic, Topic]) =>
    withEngine(place, Date.now, async (engine) => {
      await expectStored(engine, topic, { from: expiredCount, count: keptCount });
      await expectStored(engine, held, { from: expiredCount + keptCount, count: heldCount });
      const stats = await engine.messages.topicStats([topic.id, held.id]);
      return (
        Math.abs(stats.get(topic.id)!.messageCount - keptCount) + Math.abs(stats.get(held.id)!.messageCount - heldCount)
      );
    });

  test(
    'the next run resumes and removes exactly the expired messages',
    async () => {
      const both = await fill();
      const left = keptCount + heldCount;
      const stored = await openCount(place);
      own.add(() => stored.close());
      const killedAt: number[] = [];
      for (let kill = 1; kill <= kills; kill += 1) {
        const child = startRetention(own, place.env);
        const target = left + expiredCount * (1 - kill / (kills + 1));
        await eventually(async () => (await stored.count()) <= target, { timeoutMs: patienceMs, intervalMs: 1 });
        await kill9(child);
        killedAt.push((await stored.count()) - left);
      }
      const child = startRetention(own, place.env);
      const restartedAt = performance.now();
      await eventually(async () => (await stored.count()) <= left, { timeoutMs: patienceMs });
      await eventually(async () => (await stored.committedCount()) <= left, { timeoutMs: patienceMs });
      const goesOnMs = performance.now() - restartedAt;
      await kill9(child);

      const countDrift = await driftOf(both);
      printMeasurements('retention killed', {
        row: 'T1',
        engine: engineOf(engines),
        messages: expiredCount + left,
        expired: expiredCount,
        leftAtKill: killedAt,
        goesOnMs,
        wronglyDeleted: 0,
        countDrift,
      });
      for (const left of killedAt) expect(left).toBeGreaterThan(0);
      expect(countDrift).toBe(0);
    },
    (kills + 1) * 2 * patienceMs,
  );
}

/** Expects messages of the topic at exactly these offsets. */
async function expectStored({ messages }: Engine, { id }: Topic, positions: Positions): Promise<void> {
  const read = async (after: number) =>
    (await messages.after(id, { after, upTo: Number.MAX_SAFE_INTEGER, limit: pageSize, now: 0 })).map(
      ({ offset }) => offset,
    );
  let after = -1;
  for (const offsets of pagesOf(positions)) {
    expect(await read(after)).toEqual(offsets);
    after = offsets.at(-1)!;
  }
  expect(await read(after)).toEqual([]);
}
