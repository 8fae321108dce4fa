import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { OperatorStore } from '@tocsin/shared/open-engine.ts';
import { startExpoSimulator, type ExpoSimulator } from '@tocsin/simulators/expo-simulator.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import type { Stack } from '../../tools/stack/start-stack.ts';
import { isBroken, verifyReader, sharedPlaces, type Acked, type ReaderLog, type Verdict } from '../ledger/ledger.ts';
import { publishLines } from '../ledger/publish-lines.ts';
import { printMeasurements } from '@tocsin/shared/testing/figures.ts';
import { pushLedger, type PushLedger } from '../support/push-ledger.ts';
import { readKafkaGroup, readKcat } from '../ledger/read-kafka.ts';
import { readHistory, readLog } from '../ledger/read-pages.ts';
import { readSse } from '../ledger/read-sse.ts';
import { readWebSocket } from '../ledger/read-websocket.ts';
import { realLines } from '../ledger/real-lines.ts';
import type { Reader } from '../ledger/reader.ts';
import { startOwnStack } from '../support/own-stack.ts';
import { createAccount, createTopic, openStackDocuments } from '../support/stack.ts';

const lineCount = Number(process.env['TOCSIN_LEDGER_LINES'] ?? 1_000);
const publishers = 16;
const topicCount = 10;
const catchUpMs = 60_000;

describe(`${lineCount} real lines by ${publishers} publishers over ${topicCount} topics, with processes killed during the run`, () => {
  let stack: Stack;
  let store: OperatorStore;
  let topics: string[];
  let expo: ExpoSimulator;
  let pushes: PushLedger;
  /** Readers stop with the test, whatever its result. */
  let readers: Reader[] = [];

  beforeAll(async () => {
    expo = await startExpoSimulator();
    stack = await startOwnStack({ RATE_LIMITS: 'off', EXPO_URL: expo.url }, 'services');
    store = await openStackDocuments(stack);
    const account = await createAccount(store, { tier: 'TEAM', urls: stack.urls });
    topics = [];
    for (let index = 0; index < topicCount; index += 1) topics.push((await createTopic(account)).name);
    pushes = await pushLedger(expo, { store, urls: stack.urls, topics });
  });

  afterAll(async () => {
    await Promise.all(readers.map((reader) => reader.stop()));
    await store?.close();
    await stack?.stop();
    await expo?.close();
  });

  test('reach every reader completely, once and in the same order', async () => {
    const { urls } = stack;
    readers = topics.flatMap((topic, first) => [
      readSse({ urls, topic, first }),
      readWebSocket({ urls, topic, first: first + 1 }),
      readHistory({ urls, topic, first }),
      readLog({ urls, topic, first: first + 1 }),
    ]);
    if (stack.engine === 'cluster') {
      const kafka = { brokers: stack.env['KAFKA_BROKERS']!, kafkaTopic: stack.env['KAFKA_TOPIC']!, topics };
      readers.push(await readKafkaGroup(kafka), readKcat(kafka));
    }
    const lines = realLines(lineCount, { publishers, topics });
    const kills = killPlan(stack);
    const lap = stopwatch();
    const acked = await publishLines(lines, { urls, publishers, onAcked: (count) => kills.at(count) });
    await kills.done();
    const publishMs = lap();
    await caughtUp(readers, acked);
    const catchUpMs = lap();
    const logs = await Promise.all(readers.map((reader) => reader.stop()));
    await pushes.settled(acked);
    const pushesMs = lap();

    const verdicts = logs.map((log) => ({ log, verdict: verifyReader(log, lines, acked) }));
    printMeasurements('real lines', {
      engine: stack.engine,
      acked: acked.length,
      sends: acked.reduce((sum, one) => sum + one.attempts, 0),
      killed: kills.killed,
      readers: logs.length,
      connections: logs.reduce((sum, { connections }) => sum + connections, 0),
      brokenReaders: verdicts.filter(({ log, verdict }) => isBroken(verdict, log)).length,
      ...totals(verdicts),
      repeatedByKafka: repeats(verdicts),
      pushes: pushes.verify(acked),
      publishMs,
      catchUpMs,
      pushesMs,
    });
    expect(
      verdicts
        .filter(({ log, verdict }) => isBroken(verdict, log))
        .map(({ log, verdict }) => ({ reader: log.name, ...verdict })),
    ).toEqual([]);
    expect(sharedPlaces(acked)).toBe(0);
    // A killed notifier may repeat the sub-batch in progress, with the same collapse ID.
    for (const device of pushes.verify(acked)) expect(device).toMatchObject({ missing: 0, unexpected: 0 });
    expect(acked).toHaveLength(lineCount);
  }, 480_000);
});

/** Kills each server in turn over the run and restarts it. */
function killPlan(stack: Stack) {
  const victims = stack.servers.filter(({ name }) => name !== 'retention');
  const killed: string[] = [];
  const running: Promise<void>[] = [];
  return {
    killed,
    at(count: number) {
      const next = victims[killed.length];
      if (next === undefined || count < (lineCount * (killed.length + 1)) / (victims.length + 1)) return;
      killed.push(`${next.name} at ${count}`);
      running.push(next.kill().then(() => next.start()));
    },
    done: () => Promise.all(running),
  };
}

async function caughtUp(readers: readonly Reader[], acked: readonly Acked[]): Promise<void> {
  const expected = (reader: Reader) => acked.filter(({ line }) => reader.topics.includes(line.topic)).length;
  await eventually(
    () => {
      const behind = readers.filter((reader) => reader.count < expected(reader));
      expect(behind.map(({ name, count }) => `${name}: ${count}`)).toEqual([]);
    },
    { timeoutMs: catchUpMs },
  ).catch(() => undefined); // the checker reports the differences
}

function repeats(verdicts: readonly { log: ReaderLog; verdict: Verdict }[]): number {
  return verdicts.filter(({ log }) => log.mayRepeat).reduce((sum, { verdict }) => sum + verdict.repeated, 0);
}

/** Messages that readers missed or received wrongly, without duplicates that raw readers of the broker may see. */
function totals(verdicts: readonly { log: ReaderLog; verdict: Verdict }[]): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const { log, verdict } of verdicts) {
    for (const [name, count] of Object.entries(verdict) as [string, number][]) {
      sums[name] = (sums[name] ?? 0) + (name === 'repeated' && log.mayRepeat ? 0 : count);
    }
  }
  return sums;
}

/** Milliseconds since the previous call, or since its creation. */
function stopwatch(): () => number {
  let before = performance.now();
  return () => {
    const since = before;
    before = performance.now();
    return before - since;
  };
}
