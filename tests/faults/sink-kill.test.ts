import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { closers, type Closers } from '@tocsin/shared/platform/lifecycle.ts';
import { describeWithEngines, type TestEngines } from '@tocsin/shared/testing/describe-with-engines.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { printMeasurements } from '@tocsin/shared/testing/figures.ts';
import type { ClusterLayout, Stack } from '../../tools/stack/start-stack.ts';
import type { Line } from '../ledger/ledger.ts';
import { publishLines } from '../ledger/publish-lines.ts';
import { startStackOn } from '../support/own-stack.ts';
import { createAccount, createTopic, made, openStackDocuments, type Account } from '../support/stack.ts';
import { useReceivers, type Receiver } from '../support/use-receiver.ts';

const sinkCount = Number(process.env['TOCSIN_SINKS'] ?? 8);
const topicCount = Number(process.env['TOCSIN_SINK_TOPICS'] ?? 6);
const messageCount = Number(process.env['TOCSIN_SINK_MESSAGES'] ?? 300);
const kills = Number(process.env['TOCSIN_SINK_KILLS'] ?? 3);
const publishers = 8;
/** The receiver fails each request with a number that this divides. */
const failsEvery = 5;
/**
 * A sink waits for 2 s and longer after a failure, which is up to a quarter of its records, and a claim of a killed
 * notifier lasts 30 s. The notifiers' clocks therefore run 13 times as fast. What remains per failure is at most the
 * second in which a notifier does not look for due sinks, so that the time is bounded by the records of a sink.
 */
const clockStepMs = 3_000;
const clockEveryMs = 250;
const patienceMs = 120_000 + 60 * messageCount;

const jumpingClock = new URL('jumping-clock.ts', import.meta.url).href;
const receivers = useReceivers();

describe('killing the notifier while sinks deliver, embedded', () => killTests(undefined, 'single', ['tocsin']));
describeWithEngines('killing the notifiers while sinks deliver, on a cluster', (engines) =>
  killTests(engines, 'services', ['notifier', 'notifier2']),
);

/** Every fourth sink has each of these filters. */
const filters = [
  { given: {}, matches: () => true },
  { given: { priority_min: 4 }, matches: ({ priority }: Line) => priority >= 4 },
  { given: {}, matches: () => true },
  { given: { q: 'ODD' }, matches: ({ text }: Line) => text.includes('odd') },
];

interface TestSink {
  readonly path: string;
  readonly topic: { readonly id: string; readonly name: string };
  readonly matches: (line: Line) => boolean;
}

function killTests(engines: TestEngines | undefined, layout: ClusterLayout, victims: readonly string[]): void {
  let own: Closers;
  let stack: Stack;
  let account: Account;
  let receiver: Receiver;
  let clocks: FastClocks;

  beforeEach(async () => {
    own = closers();
    clocks = fastClocks(own);
    const env = {
      RATE_LIMITS: 'off',
      SINKS_ALLOW_HTTP: 'on',
      SINKS_ALLOW_ADDRESSES: '127.0.0.1',
      ...clocks.env,
    };
    stack = await startStackOn(engines, env, layout, { notifier: victims.length });
    own.add(() => stack.stop());
    own.add(() => clocks.running.clear());
    for (const name of victims) clocks.running.add(stack.server(name));
    const store = await openStackDocuments(stack);
    own.add(() => store.close());
    account = await createAccount(store, { tier: 'TEAM', urls: stack.urls });
    receiver = await receivers.start();
  });
  afterEach(() => own.closeAll(), 60_000);

  async function createSinks(topics: readonly TestSink['topic'][]): Promise<TestSink[]> {
    const sinks: TestSink[] = [];
    for (let index = 0; index < sinkCount; index += 1) {
      const topic = topics[index % topics.length]!;
      const { given, matches } = filters[index % filters.length]!;
      const [name, path] = [`sink ${index}`, `/sink-${index}`];
      const json = { name, kind: 'webhook', url: `${receiver.url}${path}`, filter: given };
      await made(account.client.call('POST', `/api/topics/${topic.id}/sinks`, { json }));
      sinks.push({ path, topic, matches });
    }
    return sinks;
  }

  test(
    `delivers ${messageCount} messages in order to all of ${sinkCount} sinks over ${kills} kills`,
    async () => {
      const topics: TestSink['topic'][] = [];
      while (topics.length < topicCount) topics.push(await createTopic(account));
      const sinks = await createSinks(topics);
      const lines = linesFor(topics.map(({ name }) => name));
      const arrivals = recordArrivals(receiver);
      const due = (some: readonly Line[]) => requestsFor(sinks, some);

      // A portion of the messages per kill, and one after the last. A kill is during the delivery of its portion.
      const portion = Math.ceil(lines.length / (kills + 1));
      const acked: Awaited<ReturnType<typeof publishLines>> = [];
      for (let kill = 0; kill <= kills; kill += 1) {
        const before = due(lines.slice(0, kill * portion));
        const some = lines.slice(kill * portion, (kill + 1) * portion);
        const publishing = publishLines(some, { urls: stack.urls, publishers });
        publishing.catch(() => undefined); // it is awaited below
        if (kill < kills) {
          const killAt = before + Math.random() * due(some);
          await eventually(() => arrivals.accepted.size >= killAt, { timeoutMs: patienceMs, intervalMs: 2 });
          const victim = stack.server(victims[kill % victims.length]!);
          clocks.running.delete(victim);
          await victim.kill();
          await victim.start();
          clocks.running.add(victim);
        }
        acked.push(...(await publishing));
      }
      await eventually(() => arrivals.accepted.size >= due(lines), { timeoutMs: patienceMs, intervalMs: 100 });

      const lineOf = new Map(acked.map(({ id, line }) => [id, line]));
      const logs = new Map<string, LogRecord[]>();
      for (const { id, name } of topics) logs.set(id, await logOf(account, name));
      expect(
        [...logs.values()]
          .flat()
          .map(({ message }) => message.id)
          .sort(),
      ).toEqual([...lineOf.keys()].sort());
      const wrong = sinks.filter(({ path, topic, matches }) => {
        const expected = logs.get(topic.id)!.filter(({ message }) => matches(lineOf.get(message.id)!));
        const offsets = String(expected.map(({ offset }) => offset));
        return [arrivals.first, arrivals.accepted].some((seen) => String(offsetsAt(seen, path)) !== offsets);
      });
      printMeasurements('sinks, notifiers killed', {
        engine: stack.engine,
        ...{ sinks: sinkCount, topics: topicCount, messages: messageCount, kills },
        requests: receiver.requests.length,
        failed: arrivals.failed(),
        deliveries: arrivals.accepted.size,
        repeats: arrivals.repeats(),
        sinksWithLossOrDisorder: wrong.length,
      });
      expect(wrong.map(({ path }) => path)).toEqual([]);
    },
    2 * patienceMs,
  );
}

/** Lines for the topics in turn, with all priorities, of which every second one has the word `odd`. */
const linesFor = (topics: readonly string[]): Line[] =>
  Array.from({ length: messageCount }, (_, n) => ({
    publisher: `p${n % publishers}`,
    n,
    topic: topics[n % topics.length]!,
    text: `line ${n} ${Math.floor(n / topics.length) % 2 === 1 ? 'odd' : 'even'}`,
    priority: 1 + (Math.floor(n / topics.length) % 5),
  }));

const requestsFor = (sinks: readonly TestSink[], lines: readonly Line[]): number =>
  sinks.reduce(
    (sum, { topic, matches }) => sum + lines.filter((line) => line.topic === topic.name && matches(line)).length,
    0,
  );

/** Lets the receiver fail one request in five, and records the order in which records arrive. */
function recordArrivals(receiver: Receiver) {
  let count = 0;
  let acceptances = 0;
  // Sets keep the order of the first insertion.
  const first = new Set<string>();
  const accepted = new Set<string>();
  receiver.respond((response, { path, event }) => {
    const key = `${path} ${event.data.offset}`;
    count += 1;
    first.add(key);
    if (count % failsEvery === 0) return void response.writeHead(503).end();
    acceptances += 1;
    accepted.add(key);
    response.writeHead(204).end();
  });
  return {
    first,
    accepted,
    failed: () => count - acceptances,
    /** Records that arrived again after the receiver accepted them. */
    repeats: () => acceptances - accepted.size,
  };
}

const offsetsAt = (arrivals: ReadonlySet<string>, path: string): number[] =>
  [...arrivals]
    .map((key) => key.split(' ') as [string, string])
    .filter(([at]) => at === path)
    .map(([, offset]) => Number(offset));

interface LogRecord {
  readonly offset: number;
  readonly message: { readonly id: string };
}

async function logOf(account: Account, topic: string): Promise<LogRecord[]> {
  const records: LogRecord[] = [];
  for (let from = 0; ;) {
    const page = await made(account.client.call('GET', `/api/topics/${topic}/log?from_offset=${from}&limit=1000`));
    records.push(...(page.records as LogRecord[]));
    if (page.records.length === 0) return records;
    from = page.next_offset;
  }
}

interface FastClocks {
  readonly env: Readonly<Record<string, string>>;
  /** The processes whose clocks run fast. A process must be able to receive the signal. */
  readonly running: Set<{ readonly pid: number }>;
}

function fastClocks(own: Closers): FastClocks {
  const dir = mkdtempSync(join(tmpdir(), 'tocsin-clocks-'));
  own.add(() => rmSync(dir, { recursive: true }));
  const running: FastClocks['running'] = new Set();
  let aheadMs = 0;
  const timer = setInterval(() => {
    aheadMs += clockStepMs;
    for (const { pid } of running) {
      writeFileSync(join(dir, String(pid)), String(aheadMs));
      process.kill(pid, 'SIGUSR2');
    }
  }, clockEveryMs);
  own.add(() => clearInterval(timer));
  return { env: { NODE_OPTIONS: `--import=${jumpingClock}`, CLOCKS_DIR: dir }, running };
}
