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
import { loopDelay, watchedLoop } from './loop-delay.ts';
import { engineChoices, measureOnEngines } from './measure-on-engines.ts';
import { percentiles } from './percentiles.ts';
import { cpuMs, residentMb } from './process-usage.ts';
import { startPushSimulators, type PushSimulators } from './push-simulators.ts';
import { removeRun, startStack, type BenchEngines } from './start-tocsin.ts';

const usage = `Usage: npm run -s bench:push [-- --engine embedded|cluster|both] [--devices N] [--priority N] [--notifiers N]
                                [--profile DIR]

Pushes one message to many devices (50 % APNs, 40 % FCM, 10 % Expo) through simulators that are processes of their own and
answer after 50 ms, and prints one line of JSON for each engine: 100,000 devices on a cluster, 20,000 embedded.
Meanwhile another topic is published to, ten times a second. A cluster has one notifier by default.
`;

const latencyMs = 50;
const publishEveryMs = 100;
const secondsMax = 300;

async function main(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: {
      engine: { type: 'string', default: 'both' },
      devices: { type: 'string' },
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
  const notifiers = Number(values.notifiers);
  const areCounts = [count ?? 1, notifiers].every((one) => Number.isInteger(one) && one > 0);
  if (!engineChoices.includes(values.engine) || !/^[1-5]$/.test(values.priority) || !areCounts) {
    process.stderr.write(usage);
    return 2;
  }
  const profileDir = values.profile === undefined ? undefined : resolve(values.profile);
  await measureOnEngines(values.engine, (engines) =>
    measure(engines, {
      count: count ?? (engines === undefined ? 20_000 : 100_000),
      priority: values.priority,
      notifiers,
      profileDir,
    }),
  );
  return 0;
}

interface Asked {
  readonly count: number;
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
      return {
        engine: stack.engine,
        devices: asked.count,
        ...(engines === undefined ? {} : { notifiers: asked.notifiers }),
        ...(await pushOnce(stack, { ...simulators.pids, ...engines?.pids }, { simulators, dir, ...asked })),
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

async function pushOnce(
  stack: Stack,
  others: Pids,
  { simulators, dir, count, priority }: Asked & { readonly simulators: PushSimulators; readonly dir: string },
): Promise<object> {
  const store = await openStackDocuments(stack);
  try {
    const account = await createAccount(store, { tier: 'TEAM', urls: stack.urls });
    const [warm, big, other] = [await createTopic(account), await createTopic(account), await createTopic(account)];
    await subscribe(store.documents, warm.id, 20);
    await subscribe(store.documents, big.id, count);
    const warming = await publish(account, warm.name, priority);
    await until(async () => (await simulators.tally(warming)).distinct === 20);

    const pushing = stack.servers.filter(({ name }) => /^(tocsin|notifier\d*)$/.test(name));
    const used = countEach({
      ...Object.fromEntries(stack.servers.map((server) => [server.name, server.pid])),
      ...others,
      bench: process.pid,
    });
    let rssMb = 0;
    await loopDelays(dir, pushing); // resets the measurement
    const publishedAt = Date.now();
    const messageId = await publish(account, big.name, priority);
    const concurrentPublishes = keepPublishing(account, other.name);
    await until(async () => {
      rssMb = Math.max(rssMb, ...pushing.map(({ pid }) => residentMb([pid])));
      return (await simulators.tally(messageId)).distinct === count;
    });
    const loopDelayP99Ms = Math.max(...(await loopDelays(dir, pushing)));
    const publishMs = percentiles(await concurrentPublishes.stop());
    const counts = await until(async () => {
      const { body } = await account.client.call('GET', `/api/messages/${messageId}/deliveries`);
      return body.counts.sent === count && body.counts;
    });
    const cpuUs = used(count);
    const { taken, distinct, lastAt } = await simulators.tally(messageId);
    return {
      perSecond: count / ((lastAt! - publishedAt) / 1_000),
      cpuUsPerPush: pushing.reduce((sum, { name }) => sum + cpuUs[name]!, 0),
      rssMb,
      loopDelayP99Ms,
      missed: count - distinct,
      twice: taken - distinct,
      publishMs,
      counts,
      cpuUsOfEach: cpuUs,
    };
  } finally {
    await store.close();
  }
}

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

async function publish({ client }: Account, topicName: string, priority: string): Promise<string> {
  const { status, body } = await client.call('POST', `/${topicName}`, {
    text: 'the pump stopped',
    headers: { 'X-Priority': priority },
  });
  if (status !== 200) throw new Error(`publish: ${status} ${JSON.stringify(body)}`);
  return body.id as string;
}

/** Publishes at a constant rate. `stop` resolves with the duration of each publish in milliseconds. */
function keepPublishing(account: Account, topicName: string): { stop(): Promise<number[]> } {
  const tookMs: number[] = [];
  const running: Promise<void>[] = [];
  const timer = setInterval(() => {
    const startedAt = performance.now();
    running.push(publish(account, topicName, '3').then(() => void tookMs.push(performance.now() - startedAt)));
  }, publishEveryMs);
  return {
    async stop() {
      clearInterval(timer);
      await Promise.all(running);
      return tookMs;
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
/** Subscribes `count` users with one device each to the topic. */
async function subscribe(documents: Documents, topicId: string, count: number): Promise<void> {
  await addSubscribers(
    documents,
    topicId,
    Array.from({ length: count }, (_, index) => {
      const platform = byTen[index % 10]!;
      return { platform, pushToken: newPushToken[platform]() };
    }),
  );
}

process.exitCode = await main(process.argv.slice(2));
