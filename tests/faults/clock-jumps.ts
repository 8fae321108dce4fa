import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { printMeasurements } from '@tocsin/shared/testing/figures.ts';
import { authorization, type FaultTest } from './installation.ts';
import { patienceMs, startLedgerRun } from './ledger-run.ts';

const hourMs = 3_600_000;
const jumpsMs = [hourMs, -hourMs, 24 * hourMs, -24 * hourMs];

export function clockJumps(startTest: () => FaultTest): void {
  test('survives clock jumps of an hour and a day in both directions: no loss or removal, order and rate limits hold, logins become valid again', async () => {
    const given = startTest();
    const { newAccount, newTopics, own, stack, third, urls } = given;
    const [budgeted, ...topics] = (await newTopics(3)) as [string, ...string[]];
    const account = await newAccount();
    const run = startLedgerRun(own, { urls, topics, publishers: 4, isKeyed: true, pauseMs: 20 });
    const { acked } = run.publishing;
    const more = async (count: number): Promise<void> => {
      const before = acked.length;
      await eventually(() => acked.length >= before + count, { timeoutMs: patienceMs });
    };
    const remaining: number[] = [];
    const publish = async (url: string): Promise<number> => {
      const answer = await fetch(`${url}/${budgeted}`, {
        method: 'POST',
        body: 'budgeted',
        headers: authorization(account),
      });
      const left = answer.headers.get('X-RateLimit-Remaining');
      if (answer.status === 200 && left !== null) remaining.push(Number(left));
      return answer.status;
    };
    const servers = [...stack.servers, third.server];
    const set = (pid: number, aheadMs: number): void => {
      writeFileSync(join(stack.env['CLOCKS_DIR']!, String(pid)), String(aheadMs));
      process.kill(pid, 'SIGUSR2');
    };
    own.add(() => servers.forEach(({ pid }) => set(pid, 0)));
    await more(20);
    const during: number[] = [];
    for (const server of servers) {
      for (const aheadMs of jumpsMs) {
        set(server.pid, aheadMs);
        await more(5);
        if (server === third.server) during.push(await publish(third.url));
      }
      set(server.pid, 0);
      await more(5);
    }
    const afterwards = await Promise.all([...urls, third.url].map(publish));
    const ledger = await run.expectComplete();
    const windowsBegun = remaining.slice(1).filter((left, at) => left > remaining[at]!).length;
    printMeasurements('clock jumps', {
      processes: servers.length,
      jumps: servers.length * jumpsMs.length,
      removed: 0,
      gaps: 0,
      unauthorizedDuring: during.filter((status) => status === 401).length,
      unauthorizedAfterwards: afterwards.filter((status) => status === 401).length,
      windowsBegun,
      ...ledger,
    });
    expect(afterwards).toEqual(afterwards.map(() => 200));
    // A login is expired while a clock is beyond its day.
    for (const [at, status] of during.entries())
      expect([200, ...(jumpsMs[at]! >= 24 * hourMs ? [401] : [])]).toContain(status);
    // Each publish counts once: at most one regular window may start, and jumps start no others.
    expect(windowsBegun).toBeLessThanOrEqual(1);
  }, 240_000);
}
