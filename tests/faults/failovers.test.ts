import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { Kafka, logLevel } from 'kafkajs';
import { MongoClient } from 'mongodb';
import { closers, type Closers } from '@tocsin/shared/platform/lifecycle.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { printMeasurements } from '@tocsin/shared/testing/figures.ts';
import { describeWithOwnEngines } from '../../tools/engines/describe-with-own-engines.ts';
import { readSse } from '../ledger/read-sse.ts';
import { request } from '../ledger/request.ts';
import { cpuMs } from '../../tools/bench/process-usage.ts';
import type { ServerProcess } from '../../tools/stack/server-process.ts';
import { startFailoverPlace, type FailoverPlace } from './failover-place.ts';

const slow = 180_000;
const patienceMs = 60_000;
/** A second after the plain client is the goal; the rest is a margin for a loaded machine. */
const lateMsMax = 3_000;
const healthMsMax = 3_000;
/** A plain client that waits longer than this has noticed the loss. */
const noticedMs = 500;
/** Requests with an Idempotency-Key wait for shorter elections. */
const waitedElectionMs = 4_500;

/** An action that is repeated. */
interface Work {
  /** The times of its successes, by `performance.now()`. */
  readonly doneAt: number[];
  readonly failures: { readonly reason: string; readonly at: number }[];
}

/** Repeats an action until the test ends. */
function keepDoing(own: Closers, act: () => Promise<unknown>): Work {
  const work: Work = { doneAt: [], failures: [] };
  let isStopped = false;
  const running = (async () => {
    while (!isStopped) {
      try {
        await act();
        work.doneAt.push(performance.now());
      } catch (error) {
        work.failures.push({ reason: (error as Error).message, at: performance.now() });
      }
      await pause(20);
    }
  })();
  own.add(() => {
    isStopped = true;
    return running;
  });
  return work;
}

/** Names the works for which `isDone` does not hold, with their last failure, and the CPU time of the servers. */
function unfinished(
  servers: readonly ServerProcess[],
  works: Readonly<Record<string, readonly Work[]>>,
  isDone: (work: Work) => boolean,
): string[] {
  const left = Object.entries(works).flatMap(([kind, list]) =>
    list.flatMap((work, index) =>
      isDone(work)
        ? []
        : [`${kind} ${index}: ${work.doneAt.length} done, ${work.failures.at(-1)?.reason ?? 'none failed'}`],
    ),
  );
  if (left.length === 0) return [];
  const usage = servers.map(({ name, pid }) => `${name} has used ${Math.round(cpuMs([pid]) / 1_000)} s of CPU time`);
  return [...left, ...usage];
}

/** The unexpected errors in the logs of the servers. */
const bugs = (servers: readonly ServerProcess[]): unknown[] =>
  servers.flatMap(({ logFile }) =>
    readFileSync(logFile, 'utf8')
      .split('\n')
      .filter((line) => line.includes('because of a bug'))
      .map((line) => (JSON.parse(line) as { err: unknown }).err),
  );

/** Resolves with the end of the first long pause of a plain client. */
function resumed({ doneAt }: Work, lostAt: number): Promise<number> {
  return eventually(
    () => {
      const index = doneAt.findIndex((at, n) => at > lostAt && at - (doneAt[n - 1] ?? lostAt) > noticedMs);
      return index >= 0 && doneAt[index]!;
    },
    { timeoutMs: patienceMs, intervalMs: 20 },
  );
}

// A plain client of each engine runs next to the installation. It shows when the engine works again.
describeWithOwnEngines('an installation on replicated engines', () => {
  const place = closers();
  let given: FailoverPlace;
  let own: Closers;

  beforeAll(async () => {
    given = await startFailoverPlace(place, process.env['TOCSIN_DEFAULT_ELECTIONS'] === '1');
  }, slow);
  afterAll(() => place.closeAll(), slow);
  beforeEach(() => {
    own = closers();
  });
  afterEach(() => own.closeAll(), slow);

  const succeed = async (asked: ReturnType<typeof request>): Promise<void> => {
    const { status, text } = await asked;
    if (status !== 200) throw new Error(`${status} ${text}`);
  };
  const publish = (topic: string, headers: Record<string, string> = {}) =>
    succeed(
      request(`${given.stack.urls[0]}/${topic}`, {
        method: 'POST',
        body: 'text',
        headers: { Authorization: `Bearer ${given.account.client.token}`, ...headers },
        timeoutMs: 30_000,
      }),
    );

  /** All that the installation does for some topics. */
  function startWorks(topics: readonly string[]): Record<string, readonly Work[]> {
    const each = (act: (topic: string) => Promise<unknown>) => topics.map((topic) => keepDoing(own, () => act(topic)));
    const streams = topics.map((topic) => {
      const work: Work = { doneAt: [], failures: [] };
      const onMessage = () => void work.doneAt.push(performance.now());
      const reader = readSse({ urls: given.stack.urls, topic, onMessage });
      own.add(() => reader.stop().then(() => undefined));
      return work;
    });
    const pushes: Work = { doneAt: [], failures: [] };
    let pushed = given.expo.pushes.length;
    const watching = setInterval(() => {
      if (given.expo.pushes.length > pushed) pushes.doneAt.push(performance.now());
      pushed = given.expo.pushes.length;
    }, 10);
    own.add(() => clearInterval(watching));
    let keys = 0;
    const newKey = () => `${performance.now()}-${(keys += 1)}`;
    return {
      publishes: each((topic) => publish(topic)),
      keyed: each((topic) => publish(topic, { 'Idempotency-Key': newKey() })),
      reads: each((topic) => succeed(request(`${given.stack.urls[0]}/${topic}/json?limit=5`, { timeoutMs: 10_000 }))),
      streams,
      pushes: [pushes],
    };
  }

  function startHealth() {
    const answers: { readonly status: number; readonly ms: number }[] = [];
    for (const url of Object.values(given.healthUrls))
      keepDoing(own, async () => {
        const begunAt = performance.now();
        const { status } = await request(`${url}/health/ready`, { timeoutMs: 10_000 });
        answers.push({ status, ms: performance.now() - begunAt });
        await pause(50);
      });
    return answers;
  }

  async function startAll(topics: readonly string[]) {
    const works = startWorks(topics);
    await eventually(
      () => expect(unfinished(given.stack.servers, works, ({ doneAt }) => doneAt.length > 10)).toEqual([]),
      {
        timeoutMs: patienceMs,
      },
    );
    return { works, health: startHealth() };
  }

  /** Expects that everything succeeds again soon after the plain client, and prints the times. */
  async function expectResumed(
    name: string,
    { works, health }: Awaited<ReturnType<typeof startAll>>,
    { lostAt, plainAt }: { readonly lostAt: number; readonly plainAt: number },
  ): Promise<void> {
    const doneAgainAt = ({ doneAt }: Work) => doneAt.find((at) => at > plainAt);
    await eventually(
      () => expect(unfinished(given.stack.servers, works, (work) => doneAgainAt(work) !== undefined)).toEqual([]),
      {
        timeoutMs: patienceMs,
      },
    );
    const lateMs = Object.fromEntries(
      Object.entries(works).map(([kind, list]) => [
        kind,
        Math.round(Math.max(...list.map((work) => doneAgainAt(work)! - plainAt))),
      ]),
    );
    const healthMs = Math.max(...health.map(({ ms }) => ms));
    expect(bugs(given.stack.servers)).toEqual([]);
    printMeasurements(name, { plainMs: plainAt - lostAt, lateMs, healthMs });
    expect(Object.entries(lateMs).filter(([, ms]) => ms > lateMsMax)).toEqual([]);
    expect(healthMs).toBeLessThan(healthMsMax);
    expect(new Set(health.map(({ status }) => status))).toEqual(new Set([200]));
  }

  const refused = (list: readonly Work[]) => list.flatMap(({ failures }) => failures.map(({ reason }) => reason));

  /** The partitions that another broker leads, by a plain client. */
  async function healthyPartitions(lostId: number): Promise<number[]> {
    const admin = new Kafka({ brokers: given.kafka.url.split(','), logLevel: logLevel.NOTHING }).admin();
    await admin.connect();
    try {
      const { topics } = await admin.fetchTopicMetadata({ topics: ['tocsin.messages'] });
      return topics[0]!.partitions.filter(({ leader }) => leader !== lostId).map(({ partitionId }) => partitionId);
    } finally {
      await admin.disconnect();
    }
  }

  /** Polls the leaders by a plain client of each other broker. Resolves when the lost one leads no partition. */
  async function elected(lostId: number): Promise<number> {
    const seenAt: number[] = [];
    for (const broker of given.kafka.url.split(',').filter((_, index) => index !== lostId - 1)) {
      const client = new Kafka({
        brokers: [broker],
        logLevel: logLevel.NOTHING,
        requestTimeout: 400,
        retry: { retries: 0 },
      });
      const admin = client.admin();
      await admin.connect();
      own.add(() => admin.disconnect());
      keepDoing(own, async () => {
        const { topics } = await admin.fetchTopicMetadata({ topics: ['tocsin.messages'] });
        const hasMoved = topics[0]!.partitions.every(({ leader }) => leader >= 0 && leader !== lostId);
        if (hasMoved) seenAt.push(performance.now());
      });
    }
    await eventually(() => seenAt.length > 0, { timeoutMs: patienceMs, intervalMs: 20 });
    return seenAt[0]!;
  }

  test.each([
    ['killed', 2],
    ['silent', 3],
  ] as const)(
    'stays ready while a Kafka broker is %s, refuses nothing on the partitions of the others, and resumes with the election',
    async (name, lostId) => {
      const node = given.kafka.nodes[lostId - 1]!;
      const healthy = await healthyPartitions(lostId);
      expect([healthy.length > 0, healthy.length < given.topics.length]).toEqual([true, true]);
      const all = await startAll(given.topics);
      const lostAt = performance.now();
      if (name === 'killed') await node.kill();
      else node.pause();
      try {
        await expectResumed(`kafka broker ${name}`, all, { lostAt, plainAt: await elected(lostId) });
        for (const kind of ['publishes', 'keyed'])
          expect(refused(healthy.map((partition) => all.works[kind]![partition]!))).toEqual([]);
      } finally {
        if (name === 'killed') await node.restart();
        else node.resume();
      }
    },
    slow,
  );

  test.each(['killed', 'stepped down'] as const)(
    'stays ready and refuses no publish while the MongoDB primary is %s, and resumes with the election',
    async (name) => {
      const all = await startAll(given.topics.slice(0, 2));
      const client = await MongoClient.connect(given.mongo.url('plain'));
      own.add(() => client.close());
      const write = () =>
        client
          .db()
          .collection('writes')
          .insertOne({}, { writeConcern: { w: 'majority' } });
      const plain = keepDoing(own, write);
      await eventually(() => plain.doneAt.length > 10);
      const primary = await given.mongo.findPrimary();
      const admin = given.mongo.members[primary]!.db('admin');
      const lostAt = performance.now();
      if (name === 'killed') await given.mongo.engines[primary]!.kill();
      else await admin.command({ replSetStepDown: 20, force: true });
      try {
        const plainAt = await resumed(plain, lostAt);
        await expectResumed(`mongo primary ${name}`, all, { lostAt, plainAt });
        expect(refused(all.works['publishes']!)).toEqual([]);
        if (plainAt - lostAt < waitedElectionMs) expect(refused(all.works['keyed']!)).toEqual([]);
      } finally {
        if (name === 'killed') await given.mongo.engines[primary]!.restart();
      }
    },
    slow,
  );

  test(
    'stays ready and refuses no publish while Redis fails over, and resumes with a plain client',
    async () => {
      const all = await startAll(given.topics.slice(0, 2));
      const client = new Redis(given.redis.url, { maxRetriesPerRequest: null });
      client.on('error', () => undefined); // it reconnects
      own.add(() => client.disconnect());
      const plain = keepDoing(own, () => client.set('plain', 'x'));
      await eventually(() => plain.doneAt.length > 10);
      const lostAt = performance.now();
      await given.redis.failOver();
      const plainAt = await resumed(plain, lostAt);
      await expectResumed('redis failover', all, { lostAt, plainAt });
      expect(refused([...all.works['publishes']!, ...all.works['keyed']!])).toEqual([]);
    },
    slow,
  );
});
