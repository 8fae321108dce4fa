import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import type { Engine } from '../../tools/engines/engine.ts';
import { keepPublishing, type Publishing } from '../ledger/keep-publishing.ts';
import { percentile, printMeasurements } from '@tocsin/shared/testing/figures.ts';
import type { FaultTest } from './installation.ts';
import { patienceMs, startLedgerRun } from './ledger-run.ts';
import { killed, silenced, startOutage, type Fault } from './start-outage.ts';

/**
 * Longer than the 5 s for which caches are valid without a query. The guarantee is a minute:
 * TOCSIN_MONGO_DOWN_SECONDS=60.
 */
const downSeconds = Number(process.env['TOCSIN_MONGO_DOWN_SECONDS'] ?? 7);
const silentSeconds = 7;
/**
 * A publish waits a second for its caller and topic and another for its document; the rest is a margin for a slow
 * machine.
 */
const publishMsMax = 4_000;

const sentSince = (publishing: Publishing, from: number) => publishing.attempts.filter(({ sentAt }) => sentAt >= from);

export function mongoOutages(startTest: () => FaultTest): void {
  const outages: [string, { seconds: number; fault: (engine: Engine) => Fault }][] = [
    ['killed', { seconds: downSeconds, fault: killed }],
    ['silent', { seconds: silentSeconds, fault: silenced }],
  ];
  test.each(outages)(
    'when MongoDB is %s for longer than caches are valid, publishing continues, streams wait, and history is complete afterwards',
    async (name, { seconds, fault }) => {
      const { account, engines, newTopics, own, urls } = startTest();
      const topics = await newTopics(4);
      // One publisher per kind of caller, because logins and anonymous callers use different caches.
      const run = startLedgerRun(own, { urls, topics, publishers: 4, pauseMs: 20 });
      const byLogin = keepPublishing({ urls, topics, publishers: 4, pauseMs: 20, token: account.client.token! });
      own.add(() => byLogin.cutOff());
      await eventually(() => run.publishing.acked.length > 50 && byLogin.acked.length > 50, { timeoutMs: patienceMs });
      const outage = await startOutage(own, fault(engines.mongo));
      const downAt = performance.now();
      const seenWhenDown = run.streamArrivals.size;
      await pause(seconds * 1_000); // the outage itself
      const seenWhileDown = run.streamArrivals.size - seenWhenDown;
      const during = [...sentSince(run.publishing, downAt), ...sentSince(byLogin, downAt)];
      await outage.end();
      const upAt = performance.now();
      await byLogin.stop();
      await run.publishing.stop();
      await run.caughtUp(byLogin);
      const catchUpMs = performance.now() - upAt;
      const ledger = await run.expectComplete(byLogin);

      const accepted = during.filter(({ status }) => status === 200);
      const ms = during.map((one) => one.ms);
      printMeasurements(`mongo ${name}`, {
        seconds,
        publishes: during.length,
        successRatio: accepted.length / during.length,
        p50Ms: percentile(ms, 0.5),
        p99Ms: percentile(ms, 0.99),
        maxMs: Math.max(...ms),
        seenWhileDown,
        catchUpMs,
        lost: 0,
        ...ledger,
      });
      expect(accepted.length / during.length).toBe(1);
      expect(Math.max(...ms)).toBeLessThan(publishMsMax);
    },
    120_000 + 3_000 * downSeconds,
  );
}
