import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { percentile, printMeasurements, residentMb } from '@tocsin/shared/testing/figures.ts';
import { authorization, type FaultTest } from './installation.ts';
import { patienceMs, startLedgerRun } from './ledger-run.ts';
import { killed, silenced, startOutage } from './start-outage.ts';
import { keepPublishing } from '../ledger/keep-publishing.ts';

/** The longest wait of a publish for silent brokers: 9 s, plus a margin for a slow machine. */
const sendDeadlineMs = 12_000;
const recoveryMsMax = 10_000;
const minuteMs = 60_000;
const hammering = Number(process.env['TOCSIN_HAMMERING_PUBLISHERS'] ?? 200);
/** The memory that 10,000 waiting publishes of 4,000 characters, their connections and uncollected garbage may use. */
const growthMbMax = 250;

interface Publish {
  readonly status: number;
  readonly ms: number;
  readonly detail: string | undefined;
  readonly id: string | undefined;
  readonly retryAfter: string | null;
  readonly remaining: string | null;
}

export function kafkaOutages(startTest: () => FaultTest): void {
  const publish = async (
    { third, account }: Pick<FaultTest, 'third' | 'account'>,
    topic: string,
    text: string,
  ): Promise<Publish> => {
    const begun = performance.now();
    const response = await fetch(`${third.url}/${topic}`, {
      method: 'POST',
      body: text,
      headers: authorization(account),
    });
    const body = (await response.json()) as { id?: string; detail?: string };
    return {
      status: response.status,
      ms: performance.now() - begun,
      detail: body.detail,
      id: body.id,
      retryAfter: response.headers.get('Retry-After'),
      remaining: response.headers.get('X-RateLimit-Remaining'),
    };
  };

  test('when Kafka is killed, refuses publishes in under a second without cost or trace, and recovers when it is back', async () => {
    const { engines, newAccount, newTopics, own, third, urls } = startTest();
    const given = { third, account: await newAccount() };
    const [topic, ...others] = (await newTopics(3)) as [string, string, string];
    const run = startLedgerRun(own, { urls, topics: others, publishers: 4, isKeyed: true });
    const begunAt = performance.now();
    const before = await publish(given, topic, 'before');
    await eventually(() => run.publishing.acked.length > 50, { timeoutMs: patienceMs });
    const outage = await startOutage(own, killed(engines.kafka));
    const refused: Publish[] = [];
    for (let n = 0; n < 5; n += 1) refused.push(await publish(given, topic, `refused ${n}`));
    const restarting = outage.end();
    const whileStarting: Publish[] = [];
    let isUp = false;
    void restarting.finally(() => (isUp = true)).catch(() => undefined); // awaited below
    while (!isUp) {
      whileStarting.push(await publish(given, topic, 'refused while it starts'));
      await pause(20); // publishes without a pause would slow the start of Kafka
    }
    await restarting;
    const upAt = performance.now();
    const after = await eventually(
      async () => {
        const answer = await publish(given, topic, 'after');
        return answer.status === 200 && answer;
      },
      { timeoutMs: recoveryMsMax },
    );
    const recoveryMs = performance.now() - upAt;
    const ledger = await run.expectComplete();

    expect([before.status, after.status]).toEqual([200, 200]);
    for (const one of refused) {
      expect(one).toMatchObject({ status: 503, detail: 'Log is unavailable', remaining: before.remaining });
      expect(Number(one.retryAfter)).toBeGreaterThanOrEqual(1);
      expect(one.ms).toBeLessThan(1_000);
    }
    if (upAt + recoveryMs - begunAt < minuteMs) {
      // the window of the rate limit; the next one starts full
      expect(after.remaining).toBe(
        String(Number(before.remaining) - 1 - whileStarting.filter(({ status }) => status === 200).length),
      );
    }
    const history = (await (await fetch(`${third.url}/${topic}/json?since=all`)).json()) as {
      messages: { message: string }[];
    };
    expect(history.messages.map(({ message }) => message).filter((text) => text !== 'refused while it starts')).toEqual(
      ['before', 'after'],
    );
    printMeasurements('kafka killed', {
      firstRefusalMs: refused[0]!.ms,
      nextRefusalsMaxMs: Math.max(...refused.slice(1).map(({ ms }) => ms)),
      refusalWhileStartingMaxMs: Math.max(...whileStarting.map(({ ms }) => ms)),
      recoveryMs,
      lost: 0,
      ...ledger,
    });
  });

  test('when Kafka is silent, refuses publishes within the deadline, bounds memory, and publishes no key twice', async () => {
    const { engines, newTopics, own, stack, urls } = startTest();
    const [topic, ...others] = (await newTopics(3)) as [string, string, string];
    const run = startLedgerRun(own, { urls, topics: others, publishers: 8, isKeyed: true });
    await eventually(() => run.publishing.acked.length > 50, { timeoutMs: patienceMs });
    const nodes = ['api1', 'api2'].map((name) => stack.server(name).pid);
    const beforeMb = nodes.map(residentMb);
    const outage = await startOutage(own, silenced(engines.kafka));
    const pausedAt = performance.now();
    const hammer = keepPublishing({ urls, topics: [topic], publishers: hammering, textLength: 4_000, pauseMs: 20 });
    own.add(() => hammer.cutOff());
    let peaksMb = beforeMb;
    const sampling = setInterval(() => {
      peaksMb = nodes.map((pid, index) => Math.max(residentMb(pid), peaksMb[index]!));
    }, 100);
    own.add(() => clearInterval(sampling));
    // Each publisher got a refusal at the deadline, and many from the circuit breaker after it.
    await eventually(() => hammer.attempts.filter(({ status }) => status === 503).length > 10 * hammering);
    clearInterval(sampling);
    await outage.end();
    const resumedAt = performance.now();
    const silentMs = resumedAt - pausedAt;
    await eventually(() => hammer.attempts.some(({ status, sentAt }) => status === 200 && sentAt > resumedAt), {
      timeoutMs: recoveryMsMax,
    });
    const recoveryMs = performance.now() - resumedAt;
    await hammer.stop();
    const ledger = await run.expectComplete();

    const refused = [...hammer.attempts, ...run.publishing.attempts].filter(
      ({ status, sentAt }) => status === 503 && sentAt > pausedAt,
    );
    const other = hammer.attempts.filter(({ status }) => status !== 200 && status !== 503).length;
    const growthMb = Math.max(...peaksMb.map((peak, index) => peak - beforeMb[index]!));
    // A text is a line, so a line appears twice in history if a key created two messages.
    const copies = await copiesInHistory(urls[0]!, others);
    printMeasurements('kafka silent', {
      silentMs,
      refused: refused.length,
      refusalMaxMs: Math.max(...refused.map(({ ms }) => ms)),
      refusalP50Ms: percentile(
        refused.map(({ ms }) => ms),
        0.5,
      ),
      growthMb,
      recoveryMs,
      retriedLines: run.publishing.acked.filter(({ attempts }) => attempts > 1).length,
      copies,
      lost: 0,
      ...ledger,
    });
    expect(copies).toBe(0);
    expect(other).toBe(0);
    expect(Math.max(...refused.map(({ ms }) => ms))).toBeLessThan(sendDeadlineMs);
    expect(growthMb).toBeLessThan(growthMbMax);
  });
}

/** The number of messages in the topics with the text of an earlier message. */
async function copiesInHistory(url: string, topics: readonly string[]): Promise<number> {
  let copies = 0;
  for (const topic of topics) {
    const texts: string[] = [];
    for (let since = 'all'; ;) {
      const { messages } = (await (await fetch(`${url}/${topic}/json?since=${since}&limit=100`)).json()) as {
        messages: { id: string; message: string }[];
      };
      if (messages.length === 0) break;
      texts.push(...messages.map(({ message }) => message));
      since = messages.at(-1)!.id;
    }
    copies += texts.length - new Set(texts).size;
  }
  return copies;
}
