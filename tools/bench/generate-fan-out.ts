import { setTimeout as pause } from 'node:timers/promises';
import { countCpu, type CountedProcesses, type CpuPerOperation } from './count-cpu.ts';
import { DeliveryTally, textOf } from './delivery-tally.ts';
import { EventConnection, type Transport } from './event-connection.ts';
import { HttpConnection, publishRequest } from './http-connection.ts';
import { percentiles, type Percentiles } from './percentiles.ts';
import { residentMb } from './process-usage.ts';

/** The generator's input, as JSON in its first argument. */
export interface FanOutLoad extends CountedProcesses {
  /** Streams are distributed over these ports; publishes go to the first port. */
  readonly ports: readonly number[];
  /** Publishes rotate over the topics. Each stream subscribes to all of them. */
  readonly topics: readonly string[];
  readonly transport: Transport;
  readonly streams: number;
  readonly messagesPerSecond: number;
  readonly seconds: number;
  readonly textBytes: number;
}

/** The generator's output. */
export interface FanOutResult {
  /** Messages per second from one publisher that waits for each response. */
  readonly published: number;
  readonly deliveriesPerSecond: number;
  /** From just before writing the publish until the subscriber has read the message. */
  readonly latencyMs: Percentiles;
  readonly publishMs: Percentiles;
  readonly lost: number;
  readonly repeated: number;
  readonly outOfOrder: number;
  /** Per delivery. */
  readonly cpuUs: CpuPerOperation;
  /** Memory of the servers before opening the streams and at the end. */
  readonly residentMb: { readonly before: number; readonly after: number };
}

/**
 * Messages that are not counted. Once every stream has received them all, all streams are live and the servers are
 * warm.
 */
const warmUpMessages = 50;
const warmUpMsMax = 30_000;
/** Time limit for the last messages after the last publish; messages missing then count as lost. */
const lateMessagesMsMax = 10_000;
/** Streams opened concurrently. */
const opensMax = 50;

async function generate(load: FanOutLoad): Promise<FanOutResult> {
  const before = residentMb(load.serverPids);
  const messages = Math.round(load.messagesPerSecond * load.seconds);
  const tally = new DeliveryTally(load.streams, warmUpMessages + messages, load.topics.length);
  const connections = await openStreams(load, tally);
  const publisher = await HttpConnection.open(load.ports[0]!);
  await publishAll(load, { publisher, tally, from: 0, to: warmUpMessages });
  if (!(await until(() => tally.distinct === load.streams * warmUpMessages, warmUpMsMax))) {
    throw new Error(`${load.streams * warmUpMessages - tally.distinct} deliveries are missing after the warm-up`);
  }
  tally.startMeasuring();
  const cpuOf = countCpu(load);
  const began = performance.now();
  const answers = await publishAll(load, { publisher, tally, from: warmUpMessages, to: warmUpMessages + messages });
  const publishSeconds = (performance.now() - began) / 1_000;
  const expected = load.streams * messages;
  await until(() => tally.distinct === expected, lateMessagesMsMax);
  const cpuUs = cpuOf(tally.received);
  const after = residentMb(load.serverPids);
  publisher.close();
  for (const connection of connections) connection.close();
  return {
    published: messages / publishSeconds,
    deliveriesPerSecond: tally.received / ((tally.lastAt - began) / 1_000),
    latencyMs: percentiles(tally.latencies()),
    publishMs: percentiles(answers),
    lost: expected - tally.distinct,
    repeated: tally.repeated,
    outOfOrder: tally.outOfOrder,
    cpuUs,
    residentMb: { before, after },
  };
}

async function openStreams(load: FanOutLoad, tally: DeliveryTally): Promise<EventConnection[]> {
  const connections: EventConnection[] = [];
  const [first] = load.topics;
  const path =
    load.topics.length === 1 ? `/${first}/${load.transport}` : `/${load.transport}?topics=${load.topics.join(',')}`;
  while (connections.length < load.streams) {
    const opened = connections.length;
    const count = Math.min(opensMax, load.streams - opened);
    connections.push(
      ...(await Promise.all(
        Array.from({ length: count }, (_, index) => {
          const port = load.ports[(opened + index) % load.ports.length]!;
          return EventConnection.open({ port, path, transport: load.transport }, tally.stream(opened + index));
        }),
      )),
    );
  }
  return connections;
}

interface Publishing {
  readonly publisher: HttpConnection;
  readonly tally: DeliveryTally;
  /** Message numbers, `to` excluded. */
  readonly from: number;
  readonly to: number;
}

/**
 * Publishes sequentially, on schedule if the server responds in time. Resolves with the response times in milliseconds.
 */
async function publishAll(load: FanOutLoad, { publisher, tally, from, to }: Publishing): Promise<number[]> {
  const answers: number[] = [];
  const began = performance.now();
  for (let number = from; number < to; number += 1) {
    const bytes = publishRequest(`/${load.topics[number % load.topics.length]!}`, textOf(number, load.textBytes));
    const waitMs = began + (number - from) * (1_000 / load.messagesPerSecond) - performance.now();
    if (waitMs >= 1) await pause(waitMs);
    const sentAt = performance.now();
    tally.sent(number, sentAt);
    const status = await publisher.request(bytes);
    if (status !== 200) throw new Error(`a publish returned ${status}`);
    answers.push(performance.now() - sentAt);
  }
  return answers;
}

async function until(condition: () => boolean, msMax: number): Promise<boolean> {
  const endsAt = performance.now() + msMax;
  while (!condition() && performance.now() < endsAt) await pause(5);
  return condition();
}

process.stdout.write(`${JSON.stringify(await generate(JSON.parse(process.argv[2]!) as FanOutLoad))}\n`);
