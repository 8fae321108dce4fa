import type { ChildProcess } from 'node:child_process';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import { smallPageSize } from '@tocsin/shared/ports/deliveries.ts';
import { closers, type Closers } from '@tocsin/shared/platform/lifecycle.ts';
import { addSubscribers } from '@tocsin/shared/testing/add-subscribers.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { startExpoSimulator, type ExpoSimulator } from '@tocsin/simulators/expo-simulator.ts';
import { describeWithEngines, type TestEngines } from '@tocsin/shared/testing/describe-with-engines.ts';
import { printMeasurements } from '@tocsin/shared/testing/figures.ts';
import { addTopic, endProcess, newPushPlace, publishTo, pushJobsMax, type PushPlace } from './push-place.ts';

const kills = Number(process.env['TOCSIN_KILLS'] ?? 1);
/** The number of devices per message: a first page and another one by default. */
const devicesEach = Number(process.env['TOCSIN_KILL_SUBSCRIBERS'] ?? 500);
/** One job processes a page and has one provider batch in progress, which a kill leaves unconfirmed. */
const pageSize = 500;
const batchSize = 100;
const laterPagesEach = Math.ceil((devicesEach - smallPageSize) / pageSize);
/** The most pushes of these messages that a kill can leave unconfirmed. */
const twiceMax = (messages: number): number =>
  smallPageSize * Math.min(pushJobsMax.firstPages, messages) +
  batchSize * Math.min(pushJobsMax.laterPages, laterPagesEach * messages);
/** The number of sends before the next kill. */
const step = 100;
/** With fewer pushes left, another message is published before the next start. */
const leftMin = 300;
/** Leases and claims of a killed process expire within this time. */
const recoveryMsMax = 15_000;
const patienceMs = 60_000;

describe('killing the notifier while it sends, embedded', () => killTests(undefined));
describeWithEngines('killing the notifier while it sends, on a cluster', (engines) => killTests(engines));

function killTests(engines: TestEngines | undefined): void {
  let own: Closers;
  let place: PushPlace;
  let expo: ExpoSimulator;
  /** Distinct pushes by device and message. */
  let reached: Set<string>;

  beforeEach(async () => {
    own = closers();
    place = newPushPlace(engines, own);
    reached = new Set();
    expo = await startExpoSimulator({ onPush: ({ token, messageId }) => void reached.add(`${token} ${messageId}`) });
    own.add(() => expo.close());
  });
  afterEach(() => own.closeAll());

  /**
   * Starts and kills notifiers. Resolves with the messages, the start time of each process, and the delay of pushes
   * after each kill.
   */
  async function killOverAndOver(topic: Topic): Promise<Run> {
    const run: Run = { messageIds: [], startedAt: [], goesOnAfterMs: [], killedAt: 0 };
    for (let kill = 0; kill < kills; kill++) {
      if (run.messageIds.length * devicesEach - reached.size < leftMin) {
        run.messageIds.push((await place.withEngine((engine) => publishTo(engine, topic, { priority: 5 }))).id);
      }
      const child = await startAfterKill(run);
      const before = reached.size;
      await eventually(() => reached.size > before + step, { timeoutMs: patienceMs, intervalMs: 5 });
      await endProcess(child, 'SIGKILL');
      run.killedAt = Date.now();
    }
    return run;
  }

  /** Resolves when pushes continue. */
  async function startAfterKill(run: Run): Promise<ChildProcess> {
    run.startedAt.push(Date.now());
    const before = expo.pushes.length;
    const child = place.startNotifier({ EXPO_URL: expo.url });
    await eventually(() => expo.pushes.length > before, { timeoutMs: patienceMs, intervalMs: 5 });
    if (run.killedAt > 0) run.goesOnAfterMs.push(expo.pushes[before]!.at - run.killedAt);
    return child;
  }

  test(
    'misses no device, resumes within 15 seconds, and duplicates replace each other',
    async () => {
      const topic = await place.withEngine(async (engine) => {
        const added = await addTopic(engine);
        await addSubscribers(
          engine.documents,
          added.id,
          Array.from({ length: devicesEach }, () => ({})),
        );
        return added;
      });
      const run = await killOverAndOver(topic);
      const due = run.messageIds.length * devicesEach;
      expect(reached.size).toBeLessThan(due);
      const child = await startAfterKill(run);
      await eventually(async () => reached.size === due && (await place.jobsLeft()) === 0, {
        timeoutMs: patienceMs,
        intervalMs: 250,
      });
      const recoveredMs = expo.pushes.at(-1)!.at - run.killedAt;
      const twice = pushedTwice(expo.pushes, run.startedAt);
      printMeasurements('notifier killed', {
        engine: engines === undefined ? 'embedded' : 'cluster',
        kills,
        messages: run.messageIds.length,
        pushes: due,
        missed: due - reached.size,
        twice: expo.pushes.length - due,
        twicePerKillMax: twice.perKillMax,
        twicePerKillAndMessageMax: twice.perKillAndMessageMax,
        goesOnAfterMsMax: Math.max(...run.goesOnAfterMs),
        recoveredMs,
      });
      expect(twice.perKillMax).toBeLessThanOrEqual(twiceMax(run.messageIds.length));
      expect(twice.perKillAndMessageMax).toBeLessThanOrEqual(twiceMax(1));
      for (const ms of [...run.goesOnAfterMs, recoveredMs]) expect(ms).toBeLessThan(recoveryMsMax);
      expect(expo.pushes.filter(({ message, messageId }) => message.collapseId !== messageId)).toEqual([]);
      expect(await endProcess(child, 'SIGTERM')).toEqual([0, null]);
      await place.withEngine(async (engine) => {
        for (const id of run.messageIds)
          expect(await engine.deliveries.counts(id)).toMatchObject({ sent: devicesEach, pending: 0, failed: 0 });
      });
    },
    (kills + 1) * 2 * patienceMs,
  );
}

interface Run {
  readonly messageIds: string[];
  readonly startedAt: number[];
  readonly goesOnAfterMs: number[];
  /** The latest time; 0 before the first. */
  killedAt: number;
}

/** The maximum number of pushes that a later process repeated: over all messages and of one message. */
function pushedTwice(
  pushes: ExpoSimulator['pushes'],
  startedAt: readonly number[],
): { perKillMax: number; perKillAndMessageMax: number } {
  const lastRun = new Map<string, number>();
  const repeated: { run: number; messageId: string | undefined }[] = [];
  for (const { token, messageId, at } of pushes) {
    const push = `${token} ${messageId}`;
    const before = lastRun.get(push);
    if (before !== undefined) repeated.push({ run: before, messageId });
    lastRun.set(
      push,
      startedAt.findLastIndex((time) => time <= at),
    );
  }
  const largest = (groups: Map<unknown, unknown[]>): number =>
    Math.max(0, ...[...groups.values()].map((group) => group.length));
  return {
    perKillMax: largest(Map.groupBy(repeated, ({ run }) => run)),
    perKillAndMessageMax: largest(Map.groupBy(repeated, ({ run, messageId }) => `${run} ${messageId}`)),
  };
}
