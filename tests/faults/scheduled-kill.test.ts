import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { closers, type Closers } from '@tocsin/shared/platform/lifecycle.ts';
import { describeWithEngines } from '@tocsin/shared/testing/describe-with-engines.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { percentile, printMeasurements } from '@tocsin/shared/testing/figures.ts';
import { startClusterStack, startEmbeddedStack, type Stack } from '../../tools/stack/start-stack.ts';
import { readSse } from '../ledger/read-sse.ts';
import { createAccount, createTopic, made, openStackDocuments, type Account } from '../support/stack.ts';

const messageCount = Number(process.env['TOCSIN_SCHEDULED'] ?? 200);
const kills = Number(process.env['TOCSIN_SCHEDULED_KILLS'] ?? 2);
const topicCount = 20;
/** Messages per account, which publishes them one after another, because an account's publishes wait for each other. */
const perAccount = 100;
/**
 * From the first publish to the first message: at least the shortest delay, and the time of the publishes. Each of them
 * takes 75 ms on an overloaded machine.
 */
const leadMs = 20_000 + 100 * messageCount;
/** Between two messages. */
const gapMs = Math.max(10, Math.ceil(10_000 / messageCount));
const spreadMs = gapMs * messageCount;
/** A claim of a killed node lasts 10 s, and a start takes some seconds on a busy machine. */
const latenessMsMax = 60_000;
const env = { RATE_LIMITS: 'off', RETENTION_SCHEDULE: '0 0 1 1 *' };

describe('killing servers while scheduled messages are due, embedded', () =>
  killTests(() => startEmbeddedStack({ env }), ['tocsin']));
describeWithEngines(
  'killing servers while scheduled messages are due, on a cluster',
  ({ kafkaBrokers, mongoUrl, redisUrl }) => {
    const start = () => {
      const run = randomBytes(4).toString('hex');
      const database = new URL(mongoUrl);
      database.pathname = `/tocsin_${run}`;
      return startClusterStack({
        kafkaBrokers,
        mongoUrl: database.href,
        redisUrl,
        jwtSecret: randomBytes(32).toString('hex'),
        env: { KAFKA_TOPIC: `tocsin.${run}`, KAFKA_PARTITIONS: '4', ...env },
      });
    };
    killTests(start, ['api1', 'fanout', 'api2']);
  },
);

interface Record {
  readonly type: string;
  readonly message: { readonly id: string; readonly message: string; readonly timestamp: string };
}

function killTests(start: () => Promise<Stack>, victims: readonly string[]): void {
  let own: Closers;
  let stack: Stack;
  let accounts: Account[];
  let topics: string[];

  beforeEach(async () => {
    own = closers();
    stack = await start();
    own.add(() => stack.stop());
    const store = await openStackDocuments(stack);
    own.add(() => store.close());
    accounts = [];
    // One after the other: too many concurrent logins are refused.
    while (accounts.length < messageCount / perAccount) accounts.push(await createAccount(store, { urls: stack.urls }));
    topics = await Promise.all(Array.from({ length: topicCount }, async () => (await createTopic(accounts[0]!)).name));
  });
  afterEach(() => own.closeAll(), 60_000);

  /** Schedules the messages one after another in time. Resolves with the time of each ID. */
  async function scheduleAll(firstAt: number): Promise<Map<string, number>> {
    const times = new Map<string, number>();
    const publish = async (account: Account, first: number) => {
      for (let index = first; index < messageCount; index += accounts.length) {
        const at = firstAt + index * gapMs;
        const { id } = await made(
          account.client.call('POST', `/${topics[index % topicCount]}`, {
            text: `message ${index}`,
            headers: { At: new Date(at).toISOString() },
            node: first,
          }),
        );
        times.set(id as string, at);
      }
    };
    await Promise.all(accounts.map(publish));
    return times;
  }

  async function logOf(topic: string): Promise<Record[]> {
    const records: Record[] = [];
    for (let from = 0; ;) {
      const page = await made(
        accounts[0]!.client.call('GET', `/api/topics/${topic}/log?from_offset=${from}&limit=1000`),
      );
      records.push(...(page.records as Record[]));
      if (page.records.length === 0) return records;
      from = page.next_offset;
    }
  }

  test(
    `publishes ${messageCount} messages over ${topicCount} topics once and not early over ${kills} kills`,
    async () => {
      const firstAt = Date.now() + leadMs;
      const times = await scheduleAll(firstAt);
      expect(Date.now()).toBeLessThan(firstAt);
      const readers = topics.map((topic, index) => readSse({ urls: stack.urls, topic, first: index }));
      own.add(() => Promise.all(readers.map((reader) => reader.stop())).then(() => undefined));
      for (let kill = 0; kill < kills; kill += 1) {
        const server = stack.server(victims[kill % victims.length]!);
        // Within the milliseconds of a delivery as likely as between two.
        await sleep(firstAt + ((kill + Math.random()) / kills) * spreadMs - Date.now());
        await server.kill();
        await server.start();
      }
      const received = () => readers.reduce((sum, { count }) => sum + count, 0);
      await eventually(() => expect(received()).toBe(messageCount), {
        timeoutMs: Math.max(0, firstAt + spreadMs - Date.now()) + latenessMsMax,
        intervalMs: 500,
      });
      const records = (await Promise.all(topics.map(logOf))).flat();
      const streamed = (await Promise.all(readers.map((reader) => reader.stop()))).flatMap(({ seen }) => seen);
      const expected = [...times.keys()].sort();
      expect(records.map(({ message }) => message.id).sort()).toEqual(expected);
      expect(streamed.map(({ id }) => id).sort()).toEqual(expected);
      const latenessMs = records.map(({ message }) => Date.parse(message.timestamp) - times.get(message.id)!);
      printMeasurements('scheduled messages, servers killed', {
        engine: stack.engine,
        messages: messageCount,
        topics: topicCount,
        kills,
        lost: 0,
        twice: 0,
        early: latenessMs.filter((late) => late < 0).length,
        latenessP50Ms: percentile(latenessMs, 0.5),
        latenessP99Ms: percentile(latenessMs, 0.99),
        latenessMaxMs: Math.max(...latenessMs),
      });
      expect(Math.min(...latenessMs)).toBeGreaterThanOrEqual(0);
      expect(Math.max(...latenessMs)).toBeLessThan(latenessMsMax);
    },
    leadMs + spreadMs + latenessMsMax + 120_000,
  );
}
