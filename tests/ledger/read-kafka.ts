import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { Kafka, logLevel } from 'kafkajs';
import { Collected, type Reader } from './reader.ts';

/** Reads the Kafka topic with a foreign client. Records may appear twice there. */
export interface KafkaSource {
  readonly brokers: string;
  readonly kafkaTopic: string;
  /** The Tocsin topics that are expected on it. */
  readonly topics: readonly string[];
}

type Value = Omit<Parameters<Collected['add']>[0], 'offset'>;

/** A KafkaJS consumer group from the beginning. Resolves once it has joined. */
export async function readKafkaGroup(source: KafkaSource): Promise<Reader> {
  const collected = new Collected();
  const kafka = new Kafka({ brokers: source.brokers.split(','), clientId: 'ledger', logLevel: logLevel.NOTHING });
  const consumer = kafka.consumer({ groupId: `ledger-${source.kafkaTopic}`, maxWaitTimeInMs: 200 });
  const joined = new Promise<void>((resolve) => consumer.on(consumer.events.GROUP_JOIN, () => resolve()));
  await consumer.connect();
  await consumer.subscribe({ topic: source.kafkaTopic, fromBeginning: true });
  await consumer.run({
    eachMessage: ({ message }) => {
      collected.add({ ...(JSON.parse(message.value!.toString()) as Value), offset: Number(message.offset) });
      return Promise.resolve();
    },
  });
  await joined;
  return reader('kafkajs group', source, collected, () => consumer.disconnect());
}

/** `kcat`, from the beginning. */
export function readKcat(source: KafkaSource): Reader {
  const collected = new Collected();
  const kcat = spawn(
    'kcat',
    ['-C', '-q', '-u', '-b', source.brokers, '-t', source.kafkaTopic, '-o', 'beginning', '-f', '%o %s\n'],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const closed = once(kcat, 'close');
  createInterface({ input: kcat.stdout }).on('line', (line) => {
    const space = line.indexOf(' ');
    collected.add({ ...(JSON.parse(line.slice(space + 1)) as Value), offset: Number(line.slice(0, space)) });
  });
  return reader('kcat', source, collected, async () => {
    kcat.kill();
    await closed;
  });
}

function reader(name: string, source: KafkaSource, collected: Collected, close: () => Promise<void>): Reader {
  return {
    name,
    topics: source.topics,
    get count() {
      return collected.count;
    },
    async stop() {
      await close();
      return collected.log(name, source.topics, true);
    },
  };
}
