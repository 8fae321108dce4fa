import { parseArgs } from 'node:util';
import { endOrphans, endRecorded, isRunning, readRecords, type EngineRecord } from './engine-records.ts';
import { reportProgress } from './report-progress.ts';
import { environmentOf, startEngines } from './start-engines.ts';

const usage = `Usage: npm run -s engines -- up [--kafka-port N] [--mongo-port N] [--redis-port N] [--prefix TEST_]
       npm run -s engines -- status
       npm run -s engines -- down

up      installs Kafka, MongoDB and Redis if they are missing, starts them, and prints their three environment variables.
        They run until down. A second up prints the variables of the running engines.
status  lists the running engines: one line each with name, pid and URL.
down    stops the engines that up started and orphaned engines of exited processes, and removes their data.
`;

const options = {
  'kafka-port': { type: 'string' },
  'mongo-port': { type: 'string' },
  'redis-port': { type: 'string' },
  prefix: { type: 'string', default: '' },
} as const;

const main = async (args: string[]): Promise<number> => {
  const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
  switch (positionals.join(' ')) {
    case 'up':
      await up(values);
      return 0;
    case 'status':
      readRecords()
        .filter(isRunning)
        .forEach(({ name, pid, url }) => console.log(`${name} ${pid} ${url}`));
      return 0;
    case 'down':
      await endOrphans();
      await Promise.all(readRecords().filter(isStanding).map(endRecorded));
      return 0;
    default:
      process.stderr.write(usage);
      return 2;
  }
};

/** Options of `up`: the engines outlive this process. */
const isStanding = ({ owner }: EngineRecord) => owner === undefined;

type UpValues = { 'kafka-port'?: string; 'mongo-port'?: string; 'redis-port'?: string; prefix: string };

const up = async (values: UpValues) => {
  const environment = standingEnvironment() ?? (await startStanding(values));
  for (const [name, value] of Object.entries(environment)) console.log(`${values.prefix}${name}=${value}`);
};

/** Returns the environment of the engines that an earlier `up` started, if all three still run. */
const standingEnvironment = () => {
  const standing = readRecords().filter((record) => isStanding(record) && isRunning(record));
  const [kafka, mongo, redis] = ['kafka', 'mongo', 'redis'].map((name) =>
    standing.find((record) => record.name.startsWith(name)),
  );
  return kafka && mongo && redis ? environmentOf({ kafka, mongo, redis }) : undefined;
};

const startStanding = async (values: UpValues) => {
  const port = (value: string | undefined) => (value === undefined ? undefined : Number(value));
  const began = performance.now();
  // Ends the remaining engines of an incomplete earlier set.
  await Promise.all(readRecords().filter(isStanding).map(endRecorded));
  const engines = await startEngines({
    outlives: true,
    ...(values['kafka-port'] && { kafkaPort: port(values['kafka-port'])! }),
    ...(values['mongo-port'] && { mongoPort: port(values['mongo-port'])! }),
    ...(values['redis-port'] && { redisPort: port(values['redis-port'])! }),
  });
  reportProgress(`engines up after ${((performance.now() - began) / 1000).toFixed(1)} s`);
  return environmentOf(engines);
};

process.exitCode = await main(process.argv.slice(2));
