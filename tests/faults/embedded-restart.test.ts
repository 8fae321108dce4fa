import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { closers, type Closers } from '@tocsin/shared/platform/lifecycle.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { startEmbeddedStack } from '../../tools/stack/start-stack.ts';
import { createAccount, createTopic, openStackDocuments } from '../support/stack.ts';
import { printMeasurements } from '@tocsin/shared/testing/figures.ts';
import { patienceMs, startLedgerRun } from './ledger-run.ts';

const restarts = Number(process.env['TOCSIN_RESTARTS'] ?? 2);
const drainMsMax = 30_000;

let own: Closers;
beforeEach(() => {
  own = closers();
});
afterEach(() => own.closeAll(), 60_000);

/** An embedded installation without rate limits, with topics. */
async function start(env: Record<string, string> = {}) {
  const stack = await startEmbeddedStack({ env: { RATE_LIMITS: 'off', EXPO_URL: 'http://127.0.0.1:9', ...env } });
  own.add(() => stack.stop());
  const documents = await openStackDocuments(stack);
  const account = await createAccount(documents, { urls: stack.urls });
  await documents.close();
  return { stack, topics: [(await createTopic(account)).name, (await createTopic(account)).name] };
}

test('with SHUTDOWN_DELAY_SECONDS a terminating process reports that it is not ready and continues to serve', async () => {
  const { stack, topics } = await start({ SHUTDOWN_DELAY_SECONDS: '15' });
  const [server, url] = [stack.server('tocsin'), stack.urls[0]!];
  process.kill(server.pid, 'SIGTERM');
  await eventually(async () => expect((await fetch(`${url}/health/ready`)).status).toBe(503));
  const answer = await fetch(`${url}/${topics[0]}`, { method: 'POST', body: 'taken' });
  expect([answer.status, answer.headers.get('Connection')]).toEqual([200, 'keep-alive']);
  await server.kill(); // the other test covers the time after the delay
});

test(
  `answers every accepted publish and loses nothing over ${restarts} restarts of an embedded process under load`,
  async () => {
    const { stack, topics } = await start();
    const run = startLedgerRun(own, { urls: stack.urls, topics, publishers: 8, isKeyed: true });
    const { acked, ackedAt, attempts } = run.publishing;
    const server = stack.server('tocsin');
    const [drainsMs, awayMs]: [number[], number[]] = [[], []];
    for (let restart = 0; restart < restarts; restart += 1) {
      const before = acked.length;
      await eventually(() => acked.length > before + 100, { timeoutMs: patienceMs });
      const toldAt = performance.now();
      expect(await server.stop()).toBe(0);
      drainsMs.push(performance.now() - toldAt);
      const lastAckedAt = Math.max(...ackedAt.values());
      const whenDown = acked.length;
      await server.start();
      await eventually(() => acked.length > whenDown, { timeoutMs: patienceMs });
      awayMs.push(ackedAt.get(acked[whenDown]!.id)! - lastAckedAt);
    }
    const ledger = await run.expectComplete();
    const refused = attempts.filter(({ fault }) => fault === 'ECONNREFUSED');
    const failed = attempts.filter(({ status, fault }) => status !== 200 && fault !== 'ECONNREFUSED');
    printMeasurements('embedded restart', {
      restarts,
      drainMaxMs: Math.max(...drainsMs),
      awayMaxMs: Math.max(...awayMs),
      refused: refused.length,
      failed: failed.length,
      gaps: 0,
      ...ledger,
    });
    expect(failed.map(({ status, fault }) => ({ status, fault }))).toEqual([]);
    expect(Math.max(...drainsMs)).toBeLessThan(drainMsMax);
  },
  120_000 + 15_000 * restarts,
);
