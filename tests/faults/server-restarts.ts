import { expect, test } from '@jest/globals';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { missingForCertificate } from '../../tools/clients/make-certificate.ts';
import { missingForNginx, startNginx } from '../../tools/clients/start-nginx.ts';
import type { ServerProcess } from '../../tools/stack/server-process.ts';
import { describeUnlessMissing } from '../../tools/test/describe-unless-missing.ts';
import { printMeasurements } from '@tocsin/shared/testing/figures.ts';
import type { FaultTest } from './installation.ts';
import { patienceMs, startLedgerRun } from './ledger-run.ts';

const isApi = ({ name }: ServerProcess) => name.startsWith('api');
const drainMsMax = 30_000;

export function serverRestarts(startTest: () => FaultTest): void {
  describeUnlessMissing('behind nginx', [...missingForNginx(), ...missingForCertificate()], () => {
    test('loses nothing and fails no publish during a rolling restart of every service under load', async () => {
      const { stack, newTopics, own } = startTest();
      const nginx = await startNginx(...stack.urls.map((url) => new URL(url)));
      own.add(() => nginx.close());
      const topics = await newTopics(4);
      // Without keys, each line sent once: a request that nginx cannot complete is a failed publish.
      const run = startLedgerRun(own, { urls: [nginx.plainUrl], topics, publishers: 8, pauseMs: 100 });
      const { acked, attempts } = run.publishing;
      const drainsMs: Record<string, number> = {};
      const workersFirst = stack.servers.toSorted((a, b) => Number(isApi(a)) - Number(isApi(b)));
      for (const server of workersFirst) {
        const before = acked.length;
        await eventually(() => acked.length > before + 50, { timeoutMs: patienceMs });
        const toldAt = performance.now();
        expect(await server.stop()).toBe(0);
        drainsMs[server.name] = Math.round(performance.now() - toldAt);
        await server.start();
        // A careful operator waits before the next node until nginx has noticed that this one is back.
        if (isApi(server)) await eventually(() => hasAnswered(server), { timeoutMs: patienceMs });
      }
      const ledger = await run.expectComplete();
      const failed = attempts.filter(({ status }) => status !== 200);
      const drainMaxMs = Math.max(...Object.values(drainsMs));
      printMeasurements('rolling restart', {
        row: 'N4',
        drainsMs,
        drainMaxMs,
        failed: failed.length,
        gaps: 0,
        ...ledger,
      });
      expect(failed.map(({ status, fault }) => ({ status, fault }))).toEqual([]);
      expect(drainMaxMs).toBeLessThan(drainMsMax);
    }, 300_000);
  });
}

/** Whether the node has answered a publish since it started. */
async function hasAnswered(server: ServerProcess): Promise<boolean> {
  const figures = await (await fetch(`${server.url}/metrics`)).text();
  return /^tocsin_http_request_seconds_count\{[^}]*operation="publish[^}]*\} [1-9]/m.test(figures);
}
