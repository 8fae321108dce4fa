import { expect } from '@jest/globals';
import type { Closers } from '@tocsin/shared/platform/lifecycle.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { keepPublishing, type KeepPublishingOptions, type Publishing } from '../ledger/keep-publishing.ts';
import { isBroken, verifyReader, sharedPlaces } from '../ledger/ledger.ts';
import { readHistory, readLog } from '../ledger/read-pages.ts';
import { readSse } from '../ledger/read-sse.ts';
import { readWebSocket } from '../ledger/read-websocket.ts';
import type { Reader } from '../ledger/reader.ts';

/** Timeout for steps whose duration is not tested, on a busy machine. */
export const patienceMs = 60_000;

/** Publishers and readers of all kinds on some topics while a test injects faults. */
export interface LedgerRun {
  readonly publishing: Publishing;
  /** Arrival time of each message at the streams of its topic, from `performance.now()`, by ID. */
  readonly streamArrivals: ReadonlyMap<string, readonly number[]>;
  /** Time to the first message of each connection of all streams. */
  resumesMs(): number[];
  /** Waits until the readers have everything acknowledged so far. */
  caughtUp(others?: Publishing): Promise<void>;
  /**
   * Stops publishers and readers and expects no loss, no duplicates and the right order from each reader. `others` have
   * published to the same topics and have stopped.
   */
  expectComplete(
    others?: Publishing,
  ): Promise<{ acked: number; sends: number; streams: number; streamConnections: number }>;
}

/**
 * Each topic has readers by SSE, WebSocket, history and log on alternating nodes. Publishers and readers that still run
 * at the end close with `own`.
 */
export function startLedgerRun(own: Closers, options: KeepPublishingOptions): LedgerRun {
  const { urls, topics } = options;
  const streamArrivals = new Map<string, number[]>();
  const onMessage = ({ id }: { id: string }) => {
    const arrivals = streamArrivals.get(id) ?? [];
    arrivals.push(performance.now());
    streamArrivals.set(id, arrivals);
  };
  const streams = topics.flatMap((topic, first) => [
    readSse({ urls, topic, first, onMessage }),
    readWebSocket({ urls, topic, first: first + 1, onMessage }),
  ]);
  const readers: Reader[] = [
    ...streams,
    ...topics.flatMap((topic, first) => [
      readHistory({ urls, topic, first }),
      readLog({ urls, topic, first: first + 1 }),
    ]),
  ];
  const publishing = keepPublishing(options);
  const stopReaders = () => Promise.all(readers.map((reader) => reader.stop()));
  own.add(async () => {
    await Promise.all([publishing.cutOff(), stopReaders()]);
  });
  const caughtUp = async (others?: Publishing) => {
    const expected = Map.groupBy([...publishing.acked, ...(others?.acked ?? [])], ({ line }) => line.topic);
    await eventually(
      () => {
        const behind = readers.filter(
          (reader) => reader.count < (expected.get(reader.name.split(' ')[1]!)?.length ?? 0),
        );
        expect(behind.map(({ name, count }) => `${name}: ${count}`)).toEqual([]);
      },
      { timeoutMs: patienceMs },
    );
  };
  return {
    publishing,
    streamArrivals,
    caughtUp,
    resumesMs: () => streams.flatMap(({ resumesMs }) => resumesMs),
    async expectComplete(others) {
      await publishing.stop();
      await caughtUp(others).catch(() => undefined); // the checker reports the differences
      const lines = [...publishing.lines, ...(others?.lines ?? [])];
      const acked = [...publishing.acked, ...(others?.acked ?? [])];
      const logs = await stopReaders();
      const ofStreams = logs.filter(({ name }) => /^(sse|websocket) /.test(name));
      const broken = logs
        .map((log) => ({ log, verdict: verifyReader(log, lines, acked) }))
        .filter(({ log, verdict }) => isBroken(verdict, log));
      expect(broken.map(({ log, verdict }) => ({ reader: log.name, ...verdict }))).toEqual([]);
      expect(sharedPlaces(acked)).toBe(0);
      return {
        acked: acked.length,
        sends: publishing.attempts.length + (others?.attempts.length ?? 0),
        streams: ofStreams.length,
        streamConnections: ofStreams.reduce((sum, { connections }) => sum + connections, 0),
      };
    },
  };
}
