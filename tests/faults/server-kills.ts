import { get, type IncomingMessage } from 'node:http';
import { expect, test } from '@jest/globals';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { percentile, printMeasurements } from '@tocsin/shared/testing/figures.ts';
import { readSse } from '../ledger/read-sse.ts';
import { authorization, type FaultTest } from './installation.ts';
import { patienceMs, startLedgerRun } from './ledger-run.ts';

const kills = Number(process.env['TOCSIN_API_KILLS'] ?? 2);
/**
 * Streams resume at the next node immediately. A node that dies during a MongoDB transaction blocks its documents
 * until the fan-out has the transaction ended: one or two seconds plus a margin; otherwise 10 to 15 seconds.
 */
const resumeMsMax = { median: 2_000, all: 8_000 };
const presenceMsMax = 20_000;
/** Streams on the killed node only. */
const orphans = 20;
const connects = 1_000;
const connectsAtOnce = 50;

export function serverKills(startTest: () => FaultTest): void {
  test(
    `resumes streams elsewhere without gaps or duplicates over ${kills} kills of an API node, and counts its streams for less than 20 seconds`,
    async () => {
      const { account, newTopics, own, stack, urls } = startTest();
      const [lonely, ...topics] = (await newTopics(3)) as [string, ...string[]];
      const run = startLedgerRun(own, { urls, topics, publishers: 4, isKeyed: true, pauseMs: 20 });
      const { acked } = run.publishing;
      const counted = async (url: string): Promise<number> => {
        const answer = await fetch(`${url}/api/topics/${lonely}`, { headers: authorization(account) });
        return ((await answer.json()) as { connection_count: number }).connection_count;
      };
      let forgottenMs = 0;
      for (let kill = 0; kill < kills; kill += 1) {
        const [victim, survivor] = [`api${1 + (kill % 2)}`, urls[1 - (kill % 2)]!];
        const alone =
          kill > 0 ? [] : Array.from({ length: orphans }, () => readSse({ urls: [urls[0]!], topic: lonely }));
        own.add(() => Promise.all(alone.map((reader) => reader.stop())).then(() => undefined));
        const before = acked.length;
        await eventually(
          async () => {
            expect(acked.length).toBeGreaterThan(before + 50);
            expect(await counted(survivor)).toBe(alone.length);
          },
          { timeoutMs: patienceMs },
        );
        await stack.server(victim).kill();
        const killedAt = performance.now();
        await eventually(async () => (await counted(survivor)) === 0, { timeoutMs: patienceMs });
        if (kill === 0) forgottenMs = performance.now() - killedAt;
        await Promise.all(alone.map((reader) => reader.stop()));
        await stack.server(victim).start();
      }
      await run.publishing.stop();
      await run.caughtUp();
      const resumesMs = run.resumesMs();
      const ledger = await run.expectComplete();
      printMeasurements('api killed', {
        row: 'N1, N7',
        kills,
        resumeP50Ms: percentile(resumesMs, 0.5),
        resumeP99Ms: percentile(resumesMs, 0.99),
        orphans,
        forgottenMs,
        gaps: 0,
        ...ledger,
      });
      expect(percentile(resumesMs, 0.5)).toBeLessThan(resumeMsMax.median);
      expect(percentile(resumesMs, 0.99)).toBeLessThan(resumeMsMax.all);
      expect(forgottenMs).toBeLessThan(presenceMsMax);
    },
    180_000 + 20_000 * kills,
  );

  test(`counts no stream after ${connects} streams opened and closed`, async () => {
    const { account, newTopics, urls } = startTest();
    const [topic] = (await newTopics(1)) as [string];
    for (let opened = 0; opened < connects; opened += connectsAtOnce) {
      const streams = await Promise.all(
        Array.from({ length: connectsAtOnce }, (_, n) => open(`${urls[n % urls.length]}/${topic}/sse`)),
      );
      for (const stream of streams) stream.destroy();
    }
    const counts = () =>
      Promise.all(
        urls.map(async (url) => {
          const answer = await fetch(`${url}/api/topics/${topic}`, { headers: authorization(account) });
          return ((await answer.json()) as { connection_count: number }).connection_count;
        }),
      );
    await eventually(async () => expect(await counts()).toEqual(urls.map(() => 0)), { timeoutMs: patienceMs });
    printMeasurements('presence', { row: 'N7', connects, drift: 0 });
  });
}

/** Resolves when the server has responded. */
function open(url: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    get(url, { agent: false }, (response) => {
      response.on('error', () => undefined); // it is destroyed later on
      resolve(response);
    }).on('error', reject);
  });
}
