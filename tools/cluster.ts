import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { buildPrograms } from './build/build-programs.ts';
import { missingPrograms } from './engines/missing-programs.ts';
import { startEngines } from './engines/start-engines.ts';
import { startClusterStack } from './stack/start-stack.ts';

/**
 * `npm run cluster`: runs real engines and all four services as separate processes until Ctrl-C, then removes
 * everything. Logs stay in `data/cluster` until the next start.
 */
async function runCluster(): Promise<void> {
  const missing = missingPrograms();
  if (missing.length > 0) throw new Error(`Cannot install the engines: missing ${missing.join('; ')}`);
  const dir = join(import.meta.dirname, '../data/cluster');
  mkdirSync(dir, { recursive: true });
  await buildPrograms();
  process.stderr.write('Starting Kafka, MongoDB and Redis …\n');
  const engines = await startEngines({ isForLong: true });
  try {
    process.stderr.write('Starting the services …\n');
    const stack = await startClusterStack({
      kafkaBrokers: engines.kafka.url,
      mongoUrl: engines.mongo.url,
      redisUrl: engines.redis.url,
      jwtSecret: randomBytes(32).toString('base64url'),
      dir,
      env: passedOn(),
    });
    process.stdout.write(
      `${addresses({ engines: { kafka: engines.kafka.url, mongo: engines.mongo.url, redis: engines.redis.url }, stack, dir })}\n`,
    );
    await new Promise<void>((resolve) => {
      for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => resolve());
    });
    process.stderr.write('\nStopping …\n');
    await stack.stop();
  } finally {
    await engines.stop();
  }
}

/**
 * Variables of the caller's environment that the services receive. The cluster sets the engines and the secret itself.
 */
function passedOn(): Record<string, string> {
  const names = ['RATE_LIMITS', 'LOG_LEVEL', 'ADMIN_TOKEN', 'SMTP_URL', 'MAIL_FROM', 'EXPO_URL', 'TRUST_PROXY'];
  return Object.fromEntries(
    names.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
  );
}

function addresses(of: {
  engines: { kafka: string; mongo: string; redis: string };
  stack: {
    urls: readonly string[];
    env: Readonly<Record<string, string>>;
    servers: readonly { name: string; pid: number }[];
  };
  dir: string;
}): string {
  const { engines, stack, dir } = of;
  return [
    '',
    'The cluster runs.',
    ...stack.urls.map((url, index) => `  API node ${index + 1}   ${url}`),
    `  Kafka        ${engines.kafka}`,
    `  MongoDB      ${engines.mongo}`,
    `  Redis        ${engines.redis}`,
    `  Processes    ${stack.servers.map(({ name, pid }) => `${name} (${pid})`).join(', ')}`,
    `  Logs         ${dir}`,
    '',
    'For commands such as `npx tocsin user create`, in another terminal:',
    `  export KAFKA_BROKERS='${engines.kafka}' MONGO_URL='${engines.mongo}' REDIS_URL='${engines.redis}' JWT_SECRET='${stack.env['JWT_SECRET']}'`,
    '',
    'Ctrl-C stops it.',
  ].join('\n');
}

await runCluster().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
