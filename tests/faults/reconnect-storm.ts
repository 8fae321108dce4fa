import { get, type ClientRequest } from 'node:http';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { MongoClient } from 'mongodb';
import { ServerProcess } from '../../tools/stack/server-process.ts';
import { percentile, printMeasurements } from '@tocsin/shared/testing/figures.ts';
import { authorization, type FaultTest } from './installation.ts';
import { patienceMs } from './ledger-run.ts';

/** The guarantee covers 2,000: TOCSIN_STORM_STREAMS=2000. */
const streamsMax = Number(process.env['TOCSIN_STORM_STREAMS'] ?? 400);
const topicsOfStorm = 5;
const readsMax = 50;
const recoveredMsMax = 10_000;
/** The application name of the node that receives the storm, as the store shows it. */
const appName = 'storm';

export function reconnectStorm(startTest: () => FaultTest): void {
  test(`${streamsMax} streams that disconnect together resume at another node with fewer than ${readsMax} reads of the store`, async () => {
    const { account, engines, newTopics, own, stack, urls } = startTest();
    const topics = await newTopics(topicsOfStorm);
    const publish = async (topic: string): Promise<string> => {
      const answer = await fetch(`${urls[1]}/${topic}`, {
        method: 'POST',
        body: 'storm',
        headers: authorization(account),
      });
      return ((await answer.json()) as { id: string }).id;
    };
    for (const topic of topics) await publish(topic);
    const streams = Array.from({ length: streamsMax }, (_, n) => new StormStream(topics[n % topics.length]!));
    own.add(() => streams.forEach((stream) => stream.cut()));
    for (const stream of streams) stream.open(urls[0]!);
    await eventually(() => streams.every(({ lastId }) => lastId !== undefined), { timeoutMs: patienceMs });

    const node = await startNode(own, stack.env);
    const profile = await profileReads(own, engines.mongo.url);
    for (const stream of streams) stream.cut();
    const missed = new Map<string, string>();
    for (const topic of topics) missed.set(topic, await publish(topic));
    const cutAt = performance.now();
    for (const stream of streams) stream.open(node.url);
    await eventually(() => streams.every(({ topic, lastId }) => lastId === missed.get(topic)), {
      timeoutMs: patienceMs,
    });
    const recoveredMs = streams.map(({ messageAt }) => messageAt - cutAt);
    const reads = await profile();
    const total = Object.values(reads).reduce((sum, count) => sum + count, 0);
    printMeasurements('reconnect storm', {
      streams: streamsMax,
      topics: topics.length,
      reads: total,
      ...reads,
      recoveredP50Ms: percentile(recoveredMs, 0.5),
      recoveredP99Ms: percentile(recoveredMs, 0.99),
      gaps: 0,
    });
    expect(total).toBeLessThan(readsMax);
    expect(percentile(recoveredMs, 0.99)).toBeLessThan(recoveredMsMax);
  }, 180_000);
}

/** An event stream that keeps only its position. */
class StormStream {
  readonly topic: string;
  /** The ID of the last event; undefined before the first. */
  lastId: string | undefined;
  /** Arrival time of the last message, from `performance.now()`. */
  messageAt = 0;
  #request: ClientRequest | undefined;

  constructor(topic: string) {
    this.topic = topic;
  }

  open(url: string): void {
    const headers = this.lastId === undefined ? {} : { 'Last-Event-ID': this.lastId };
    let rest = '';
    this.#request = get(`${url}/${this.topic}/sse`, { agent: false, headers }, (response) => {
      response
        .setEncoding('utf8')
        .on('error', () => undefined)
        .on('data', (chunk: string) => {
          const lines = (rest + chunk).split('\n');
          rest = lines.pop()!;
          for (const line of lines) {
            if (line.startsWith('id: ')) this.lastId = line.slice(4);
            if (line === 'event: message') this.messageAt = performance.now();
          }
        });
    });
    this.#request.on('error', () => undefined); // it is cut off
  }

  cut(): void {
    this.#request?.destroy();
  }
}

/** A new API node that the store can distinguish from the others. */
async function startNode(own: FaultTest['own'], env: Readonly<Record<string, string>>): Promise<ServerProcess> {
  const dir = mkdtempSync(join(tmpdir(), 'tocsin-storm-'));
  const mongoUrl = new URL(env['MONGO_URL']!);
  mongoUrl.searchParams.set('appName', appName);
  const node = new ServerProcess({
    name: 'storm',
    args: ['services/api/main.ts'],
    env: { ...env, MONGO_URL: mongoUrl.href },
    logFile: join(dir, 'storm.log'),
  });
  own.add(async () => {
    await node.stop();
    rmSync(dir, { recursive: true });
  });
  await node.start();
  return node;
}

/** Starts profiling the node's queries in the store. The result resolves with their number by collection. */
async function profileReads(own: FaultTest['own'], url: string): Promise<() => Promise<Record<string, number>>> {
  const client = await MongoClient.connect(url);
  const database = client.db('tocsin');
  own.add(async () => {
    await database.command({ profile: 0 });
    await client.close();
  });
  await database.createCollection('system.profile', { capped: true, size: 64 * 1024 * 1024 });
  await database.command({ profile: 1, filter: { appName } });
  return async () => {
    const kept = await database
      .collection<{ op: string; ns: string; command: object }>('system.profile')
      .find()
      .toArray();
    const reads = kept.filter(
      ({ op, command }) => op === 'query' || op === 'getmore' || (op === 'command' && 'aggregate' in command),
    );
    return Object.fromEntries(
      [...Map.groupBy(reads, ({ ns }) => `reads of ${ns.split('.')[1]}`)].map(([name, of]) => [name, of.length]),
    );
  };
}
