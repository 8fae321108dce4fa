import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { keepPublishing, type Publishing } from '../ledger/keep-publishing.ts';
import { percentile, printFigures, type Installation } from './installation.ts';
import { startLedgerRun } from './ledger-run.ts';

/** Longer than the 5 s for which caches hold without asking. The promise is a minute: TOCSIN_MONGO_DOWN_SECONDS=60. */
const downSeconds = Number(process.env['TOCSIN_MONGO_DOWN_SECONDS'] ?? 12);
const silentSeconds = 7;
/** A publish waits a second for what is known of its caller and topic, and 250 ms for its document; the rest is a slow machine's. */
const publishMsMax = 4_000;

const sentSince = (publishing: Publishing, from: number) => publishing.attempts.filter(({ sentAt }) => sentAt >= from);

export function mongoOutages(installation: () => Installation): void {
  const outages: [string, { seconds: number; begin: () => Promise<void>; end: () => Promise<void> }][] = [
    ['killed', {
      seconds: downSeconds,
      begin: () => installation().engines.mongo.kill(),
      end: () => installation().engines.mongo.restart(),
    }],
    ['silent', {
      seconds: silentSeconds,
      begin: async () => installation().engines.mongo.pause(),
      end: async () => installation().engines.mongo.resume(),
    }],
  ];
  test.each(outages)('MongoDB is %s for longer than caches hold: publishing goes on, streams wait, history is complete afterwards', async (name, outage) => {
    const { newTopics, urls, account } = installation();
    const topics = await newTopics(4);
    // One publisher per kind of caller: what an account's login and an anonymous caller need is cached differently.
    const run = startLedgerRun({ urls, topics, publishers: 4, pauseMs: 20 });
    const byLogin = keepPublishing({ urls, topics, publishers: 4, pauseMs: 20, token: account.client.token! });
    await eventually(() => run.publishing.acked.length > 50 && byLogin.acked.length > 50);
    await outage.begin();
    const downAt = performance.now();
    const seenWhenDown = run.streamDelays.size;
    await pause(outage.seconds * 1_000); // the outage itself
    const seenWhileDown = run.streamDelays.size - seenWhenDown;
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
    printFigures(`mongo ${name}`, {
      seconds: outage.seconds, publishes: during.length, successRatio: accepted.length / during.length, p50Ms: percentile(ms, 0.5), p99Ms: percentile(ms, 0.99),
      maxMs: Math.max(...ms), seenWhileDown, catchUpMs, lost: 0, ...ledger,
    });
    expect(accepted.length / during.length).toBe(1);
    expect(Math.max(...ms)).toBeLessThan(publishMsMax);
  }, 60_000 + 3_000 * downSeconds);
}
