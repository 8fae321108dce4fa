import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createAccount, createTopic, made, openStackDocuments, type Account } from '../../tests/support/stack.ts';
import type { Stack } from '../stack/start-stack.ts';
import { engineChoices, measureOnEngines } from './measure-on-engines.ts';
import { percentiles } from './percentiles.ts';
import { cpuMs } from './process-usage.ts';
import type { ReceiverTally } from './sink-receiver.ts';
import { removeRun, startStack, type BenchEngines } from './start-tocsin.ts';

const usage = `Usage: npm run -s bench:sinks [-- --engine embedded|cluster|both] [--messages N] [--profile DIR]

Prints one line of JSON for each engine: the requests per second of 100 sinks of five topics (default 200 messages per
topic), and the delay of 19 sinks, from the publish to the receiver, without and with another sink of their topic whose
receiver never answers, in turn, three times each.
`;

const topicCount = 5;
const sinksPerTopic = 20;
const rounds = 3;
/** Of a round of delays. A request that hangs takes 10 s, and the pause after it at least 2 s. */
const roundMs = 13_000;
const publishEveryMs = 100;
const secondsMax = 300;

async function main(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: {
      engine: { type: 'string', default: 'both' },
      messages: { type: 'string', default: '200' },
      profile: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  const messages = Number(values.messages);
  const isValid = engineChoices.includes(values.engine) && Number.isInteger(messages) && messages > 0;
  if (values.help || !isValid) {
    process[values.help ? 'stdout' : 'stderr'].write(usage);
    return values.help ? 0 : 2;
  }
  const profileDir = values.profile === undefined ? undefined : resolve(values.profile);
  await measureOnEngines(values.engine, (engines) => measure(engines, { messages, profileDir }));
  return 0;
}

async function measure(
  engines: BenchEngines | undefined,
  { messages, profileDir }: { readonly messages: number; readonly profileDir: string | undefined },
): Promise<object> {
  const dir = mkdtempSync(join(tmpdir(), 'tocsin-bench-sinks-'));
  const receiver = await startReceiver();
  try {
    const env = { SINKS_ALLOW_HTTP: 'on', SINKS_ALLOW_ADDRESSES: '127.0.0.1' };
    const stack = await startStack({ engines, profileDir, env }, dir);
    try {
      const [loadBefore] = loadavg();
      const account = await withAccount(stack);
      const throughput = await measureThroughput(stack, { account, receiver, messages });
      const delays = await measureDelays({ account, receiver });
      return { engine: stack.engine, ...throughput, ...delays, load: { before: loadBefore, after: loadavg()[0] } };
    } finally {
      await stack.stop();
      await removeRun(stack);
    }
  } finally {
    receiver.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

interface SinkReceiver {
  readonly url: string;
  /** The requests since the last call. */
  tally(): Promise<ReceiverTally>;
  stop(): void;
}

async function startReceiver(): Promise<SinkReceiver> {
  const child: ChildProcess = fork(join(import.meta.dirname, 'sink-receiver.ts'), {
    execArgv: ['--disable-warning=ExperimentalWarning'],
  });
  const [port] = (await once(child, 'message')) as [number];
  return {
    url: `http://127.0.0.1:${port}`,
    async tally() {
      const answered = once(child, 'message');
      child.send({});
      return (await answered)[0] as ReceiverTally;
    },
    stop: () => child.disconnect(),
  };
}

async function withAccount(stack: Stack): Promise<Account> {
  const store = await openStackDocuments(stack);
  try {
    return await createAccount(store, { tier: 'TEAM', urls: stack.urls });
  } finally {
    await store.close();
  }
}

interface Place {
  readonly account: Account;
  readonly receiver: SinkReceiver;
}

const createSink = ({ account, receiver }: Place, topicId: string, path: string): Promise<{ id: string }> =>
  made(
    account.client.call('POST', `/api/topics/${topicId}/sinks`, {
      json: { name: 'sink', kind: 'webhook', url: receiver.url + path },
    }),
  );

/** From the first to the last request, next to the publishes of the first second. */
async function measureThroughput(
  stack: Stack,
  { messages, ...place }: Place & { readonly messages: number },
): Promise<object> {
  const topics: { id: string; name: string }[] = [];
  while (topics.length < topicCount) topics.push(await createTopic(place.account));
  for (const { id } of topics)
    for (let count = 0; count < sinksPerTopic; count += 1) await createSink(place, id, `/sink-${count}`);
  const sinks = topicCount * sinksPerTopic;
  const server = stack.servers.find(({ name }) => name === 'notifier' || name === 'tocsin')!;
  const cpuBefore = cpuMs([server.pid]);
  await Promise.all(
    topics.map(async ({ name }) => {
      for (let n = 0; n < messages; n += 1) await publish(place.account, name, 'the pump stopped');
    }),
  );
  const requests = sinks * messages;
  const tallies: ReceiverTally[] = [];
  const received = (): number => tallies.reduce((sum, { count }) => sum + count, 0);
  for (const end = Date.now() + secondsMax * 1_000; received() < requests; await pause(250)) {
    if (Date.now() > end) throw new Error(`${received()} of ${requests} requests after ${secondsMax} seconds`);
    tallies.push(await place.receiver.tally());
  }
  const seconds = (tallies.at(-1)!.lastAt - tallies.find(({ count }) => count > 0)!.firstAt) / 1_000;
  return {
    sinks,
    requests,
    requestsPerSecond: requests / seconds,
    cpuUsPerRequest: ((cpuMs([server.pid]) - cpuBefore) * 1_000) / requests,
    repeats: received() - requests,
  };
}

/** Rounds with and without the hanging sink alternate, because the machine's speed varies. */
async function measureDelays(place: Place): Promise<object> {
  const { account, receiver } = place;
  const topic = await createTopic(account);
  for (let count = 1; count < sinksPerTopic; count += 1) await createSink(place, topic.id, `/sink-${count}`);
  const hanging = await createSink(place, topic.id, '/hanging');
  const delaysMs: Record<'paused' | 'active', number[]> = { paused: [], active: [] };
  for (let round = 0; round < rounds; round += 1)
    for (const state of ['paused', 'active'] as const) {
      await made(
        account.client.call('PATCH', `/api/topics/${topic.id}/sinks/${hanging.id}`, { json: { state, offset: 0 } }),
      );
      await receiver.tally();
      for (const end = Date.now() + roundMs; Date.now() < end; await pause(publishEveryMs))
        await publish(account, topic.name, `sent ${Date.now()}`);
      await pause(2_000);
      delaysMs[state].push(...(await receiver.tally()).delaysMs);
    }
  return { delayMs: percentiles(delaysMs.paused), delayNextToHangingMs: percentiles(delaysMs.active) };
}

const publish = ({ client }: Account, topicName: string, text: string): Promise<unknown> =>
  made(client.call('POST', `/${topicName}`, { text }));

process.exitCode = await main(process.argv.slice(2));
