import { setTimeout as pause } from 'node:timers/promises';
import { countCpu, type CountedProcesses, type CpuPerOperation } from './count-cpu.ts';
import { DeliveryTally, textOf } from './delivery-tally.ts';
import { EventConnection, type Transport } from './event-connection.ts';
import { HttpConnection, publishRequest } from './http-connection.ts';
import { percentiles, type Percentiles } from './percentiles.ts';
import { residentMb } from './process-usage.ts';

/** What is asked of the generator, as JSON in its first argument. */
export interface FanOutLoad extends CountedProcesses {
  /** The streams are spread over them; publishes go to the first. */
  readonly ports: readonly number[];
  /** Publishes go to one after the other. Of several, each stream has all. */
  readonly topics: readonly string[];
  readonly transport: Transport;
  readonly streams: number;
  readonly messagesPerSecond: number;
  readonly seconds: number;
  readonly textBytes: number;
}

/** What it prints. */
export interface FanOutResult {
  /** Messages per second that one publisher, who waits for each answer, has reached. */
  readonly published: number;
  readonly deliveriesPerSecond: number;
  /** From just before the publish is written until the subscriber has read the message. */
  readonly latencyMs: Percentiles;
  readonly publishMs: Percentiles;
  readonly lost: number;
  readonly repeated: number;
  readonly outOfOrder: number;
  /** Per delivery. */
  readonly cpuUs: CpuPerOperation;
  /** Memory of the servers before the streams were opened, and at the end. */
  readonly residentMb: { readonly before: number; readonly after: number };
}

/** Messages that are not counted: when every stream has them all, all are live and the servers are warm. */
const warmUpMessages = 50;
const warmUpMsMax = 30_000;
/** The last messages may take this long after the last publish; what is missing then is lost. */
const lateWritesMsMax = 10_000;
/** Streams that are opened at once. */
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
  await until(() => tally.distinct === expected, lateWritesMsMax);
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
  /** The numbers of the messages. */
  readonly from: number;
  readonly to: number;
}

/** One publish after the other, on time where the server's answers allow it. Resolves with how long the answers took, in milliseconds. */
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
    if (status !== 200) throw new Error(`a publish was answered ${status}`);
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
