import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { Platform } from '@tocsin/shared/domain/push/device.ts';
import type { Documents } from '@tocsin/shared/ports/documents.ts';
import { addSubscribers } from '@tocsin/shared/testing/add-subscribers.ts';
import { newPushToken } from '@tocsin/shared/testing/builders.ts';
import { createAccount, createTopic, openStackDocuments, type Account } from '../../tests/support/stack.ts';
import type { Stack } from '../stack/start-stack.ts';
import { EngineRequestCounter, requestsPer, type EngineRequests } from './count-engine-requests.ts';
import { loopDelay, watchedLoop } from './loop-delay.ts';
import { engineChoices, measureOnEngines } from './measure-on-engines.ts';
import { percentiles } from './percentiles.ts';
import { cpuMs, residentMb } from './process-usage.ts';
import { startPushSimulators, type PushSimulators } from './push-simulators.ts';
import { removeRun, startStack, type BenchEngines } from './start-tocsin.ts';

const usage = `Usage: npm run -s bench:push [-- --engine embedded|cluster|both] [--devices N] [--messages N] [--priority N]
                                [--notifiers N] [--profile DIR]

Pushes one message to many devices (50 % APNs, 40 % FCM, 10 % Expo) through simulators that are processes of their own and
answer after 50 ms, and prints one line of JSON for each engine: 100,000 devices on a cluster, 20,000 embedded.
Meanwhile another topic with one device is published to, ten times a second.
With --messages: N messages on 16 connections to topics with one device each. A cluster has one notifier by default.
`;

const latencyMs = 50;
const publishEveryMs = 100;
const secondsMax = 300;

/** With `--messages`: topics with one device each, and concurrent publishes. */
const smallTopics = 50;
const connections = 16;

async function main(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: {
      engine: { type: 'string', default: 'both' },
      devices: { type: 'string' },
      messages: { type: 'string' },
      priority: { type: 'string', default: '3' },
      notifiers: { type: 'string', default: '1' },
      profile: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    process.stdout.write(usage);
    return 0;
  }
  const count = values.devices === undefined ? undefined : Number(values.devices);
  const messages = values.messages === undefined ? undefined : Number(values.messages);
  const notifiers = Number(values.notifiers);
  const areCounts = [count ?? 1, messages ?? 1, notifiers].every((one) => Number.isInteger(one) && one > 0);
  if (!engineChoices.includes(values.engine) || !/^[1-5]$/.test(values.priority) || !areCounts) {
    process.stderr.write(usage);
    return 2;
  }
  const profileDir = values.profile === undefined ? undefined : resolve(values.profile);
  await measureOnEngines(values.engine, (engines) =>
    measure(engines, {
      count: count ?? (engines === undefined ? 20_000 : 100_000),
      messages,
      priority: values.priority,
      notifiers,
      profileDir,
    }),
  );
  return 0;
}

interface Asked {
  readonly count: number;
  readonly messages: number | undefined;
  readonly priority: string;
  readonly notifiers: number;
  readonly profileDir: string | undefined;
}

async function measure(engines: BenchEngines | undefined, asked: Asked): Promise<object> {
  const dir = mkdtempSync(join(tmpdir(), 'tocsin-bench-push-'));
  const simulators = await startPushSimulators(dir, latencyMs);
  try {
    const stack = await startStack(
      {
        engines,
        profileDir: asked.profileDir,
        replicas: { notifier: asked.notifiers },
        env: { ...simulators.env, ...watchedLoop(dir) },
      },
      dir,
    );
    try {
      const others = { ...simulators.pids, ...engines?.pids };
      return {
        engine: stack.engine,
        ...(engines === undefined ? {} : { notifiers: asked.notifiers }),
        ...(asked.messages === undefined
          ? { devices: asked.count, ...(await pushOnce(stack, others, { simulators, engines, dir, ...asked })) }
          : await pushEach(stack, others, { simulators, engines, priority: asked.priority, count: asked.messages })),
      };
    } finally {
      await stack.stop();
      await removeRun(stack);
    }
  } finally {
    simulators.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

interface Pushing {
  readonly simulators: PushSimulators;
  readonly engines: BenchEngines | undefined;
  readonly count: number;
  readonly priority: string;
}

/** Pushes one message to `count` devices. */
async function pushOnce(
  stack: Stack,
  others: Pids,
  { simulators, engines, dir, count, priority }: Pushing & { readonly dir: string },
): Promise<object> {
  const store = await openStackDocuments(stack);
  const requests = engines === undefined ? undefined : new EngineRequestCounter(engines);
  try {
    const account = await createAccount(store, { tier: 'TEAM', urls: stack.urls });
    const [warm, big, other] = [await createTopic(account), await createTopic(account), await createTopic(account)];
    await subscribe(store.documents, warm.id, 20);
    await subscribe(store.documents, big.id, count);
    await subscribe(store.documents, other.id, 1);
    const warming = await publish(account, warm.name, priority);
    await until(async () => (await simulators.tally(warming.id)).distinct === 20);

    const pushing = pushingServers(stack);
    const requestsBefore = await requests?.read();
    const used = countEach({ ...pidsOf(stack), ...others, bench: process.pid });
    let rssMb = 0;
    await loopDelays(dir, pushing); // resets the measurement
    const { id, startedAt } = await publish(account, big.name, priority);
    const small = keepPublishing(account, other.name, priority);
    await until(async () => {
      rssMb = Math.max(rssMb, ...pushing.map(({ pid }) => residentMb([pid])));
      return (await simulators.tally(id)).distinct === count;
    });
    const loopDelayP99Ms = Math.max(...(await loopDelays(dir, pushing)));
    const published = await small.stop();
    const counts = await until(async () => {
      const { body } = await account.client.call('GET', `/api/messages/${id}/deliveries`);
      return body.counts.sent === count && body.counts;
    });
    const cpuUs = used(count);
    const requestsPerPush = await requestsSince(requests, requestsBefore, count);
    const { taken, distinct, lastAt } = await simulators.tally(id);
    return {
      perSecond: count / ((lastAt! - startedAt) / 1_000),
      cpuUsPerPush: pushing.reduce((sum, { name }) => sum + cpuUs[name]!, 0),
      rssMb,
      loopDelayP99Ms,
      missed: count - distinct,
      twice: taken - distinct,
      publishMs: percentiles(published.map(({ tookMs }) => tookMs)),
      smallPushMs: percentiles((await pushTimes(simulators, published)).tookMs),
      counts,
      cpuUsOfEach: cpuUs,
      requestsPerPush,
    };
  } finally {
    await requests?.close();
    await store.close();
  }
}

/** Publishes `count` messages on many connections, each of which is pushed to one device. */
async function pushEach(
  stack: Stack,
  others: Pids,
  { simulators, engines, count, priority }: Pushing,
): Promise<object> {
  const store = await openStackDocuments(stack);
  const requests = engines === undefined ? undefined : new EngineRequestCounter(engines);
  try {
    const account = await createAccount(store, { tier: 'TEAM', urls: stack.urls });
    const topics = await Promise.all(Array.from({ length: smallTopics }, () => createTopic(account)));
    for (const [index, { id }] of topics.entries()) await subscribe(store.documents, id, 1, index);
    const publishAll = async (messages: number): Promise<Published[]> => {
      const published: Published[] = [];
      let next = 0;
      const publishNext = async (): Promise<void> => {
        while (next < messages) published.push(await publish(account, topics[next++ % smallTopics]!.name, priority));
      };
      await Promise.all(Array.from({ length: connections }, publishNext));
      return published;
    };
    await pushTimes(simulators, await publishAll(smallTopics)); // until the code is compiled
    const requestsBefore = await requests?.read();
    const used = countEach({ ...pidsOf(stack), ...others, bench: process.pid });
    const startedAt = Date.now();
    const published = await publishAll(count);
    const publishedPerSecond = count / ((Date.now() - startedAt) / 1_000);
    const { tookMs, lastAt, twice } = await pushTimes(simulators, published);
    const cpuUs = used(count);
    return {
      messages: count,
      perSecond: count / ((lastAt - startedAt) / 1_000),
      publishedPerSecond,
      cpuUsPerPush: pushingServers(stack).reduce((sum, { name }) => sum + cpuUs[name]!, 0),
      pushMs: percentiles(tookMs),
      publishMs: percentiles(published.map((one) => one.tookMs)),
      twice,
      cpuUsOfEach: cpuUs,
      requestsPerMessage: await requestsSince(requests, requestsBefore, count),
    };
  } finally {
    await requests?.close();
    await store.close();
  }
}

/** Resolves when each message was pushed, with the times from the start of the publish to the first push. */
async function pushTimes(
  simulators: PushSimulators,
  published: readonly Published[],
): Promise<{ tookMs: number[]; lastAt: number; twice: number }> {
  const tookMs: number[] = [];
  let [lastAt, twice] = [0, 0];
  for (const { id, startedAt } of published) {
    const tally = await until(async () => {
      const found = await simulators.tally(id);
      return found.distinct > 0 && found;
    });
    tookMs.push(tally.firstAt! - startedAt);
    lastAt = Math.max(lastAt, tally.lastAt!);
    twice += tally.taken - tally.distinct;
  }
  return { tookMs, lastAt, twice };
}

/** Undefined on the embedded engine, which makes none. */
const requestsSince = async (
  requests: EngineRequestCounter | undefined,
  before: EngineRequests | undefined,
  count: number,
): Promise<EngineRequests | undefined> =>
  requests === undefined || before === undefined ? undefined : requestsPer(before, await requests.read(), count);

const pushingServers = ({ servers }: Stack): Stack['servers'] =>
  servers.filter(({ name }) => /^(tocsin|notifier\d*)$/.test(name));

const pidsOf = ({ servers }: Stack): Pids => Object.fromEntries(servers.map(({ name, pid }) => [name, pid]));

const loopDelays = (dir: string, servers: readonly { readonly pid: number }[]): Promise<number[]> =>
  Promise.all(servers.map(({ pid }) => loopDelay(dir, pid)));

type Pids = Readonly<Record<string, number>>;

/** Starts to count the CPU time of each process. The returned function returns the microseconds per push since then. */
function countEach(pids: Pids): (pushes: number) => Record<string, number> {
  const before = Object.entries(pids).map(([name, pid]) => [name, pid, cpuMs([pid])] as const);
  return (pushes) =>
    Object.fromEntries(before.map(([name, pid, ms]) => [name, ((cpuMs([pid]) - ms) * 1_000) / pushes]));
}

/** Polls until `find` returns a value other than false. Throws after `secondsMax`. */
async function until<T>(find: () => Promise<T | false>): Promise<T> {
  for (const end = Date.now() + secondsMax * 1_000; Date.now() < end; await pause(250)) {
    const found = await find();
    if (found !== false) return found;
  }
  throw new Error(`not done after ${secondsMax} seconds`);
}

interface Published {
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly tookMs: number;
}

async function publish({ client }: Account, topicName: string, priority: string): Promise<Published> {
  const [startedAt, began] = [Date.now(), performance.now()];
  const { status, body } = await client.call('POST', `/${topicName}`, {
    text: 'the pump stopped',
    headers: { 'X-Priority': priority },
  });
  if (status !== 200) throw new Error(`publish: ${status} ${JSON.stringify(body)}`);
  return { id: body.id as string, startedAt, tookMs: performance.now() - began };
}

/** Publishes at a constant rate until `stop`. */
function keepPublishing(account: Account, topicName: string, priority: string): { stop(): Promise<Published[]> } {
  const running: Promise<Published>[] = [];
  const timer = setInterval(() => void running.push(publish(account, topicName, priority)), publishEveryMs);
  return {
    stop: () => {
      clearInterval(timer);
      return Promise.all(running);
    },
  };
}

const byTen: readonly Platform[] = [
  'ios',
  'android',
  'ios',
  'android',
  'ios',
  'android',
  'ios',
  'android',
  'ios',
  'expo',
];
/** Subscribes `count` users with one device each to the topic; `from` selects the first platform. */
async function subscribe(documents: Documents, topicId: string, count: number, from = 0): Promise<void> {
  await addSubscribers(
    documents,
    topicId,
    Array.from({ length: count }, (_, index) => {
      const platform = byTen[(from + index) % 10]!;
      return { platform, pushToken: newPushToken[platform]() };
    }),
  );
}

process.exitCode = await main(process.argv.slice(2));
