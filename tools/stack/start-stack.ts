import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startConcurrently } from '../engines/start-concurrently.ts';
import { ServerProcess } from './server-process.ts';

/** A complete installation as processes, with handles to use and to disrupt it. */
export interface Stack {
  readonly engine: 'embedded' | 'cluster';
  /** The API nodes' addresses. */
  readonly urls: readonly string[];
  readonly servers: readonly ServerProcess[];
  /** The servers at `urls`, in the same order. */
  readonly nodes: readonly ServerProcess[];
  /** The pids of the API nodes, in the same order; a restart changes them. */
  apiPids(): number[];
  /** The environment of the servers, which also opens the same stores. */
  readonly env: Readonly<Record<string, string>>;
  server(name: string): ServerProcess;
  stop(): Promise<void>;
}

export interface StackOptions {
  /** Additional configuration. */
  readonly env?: Record<string, string>;
  /** Directory of data, emails and logs. Default: a temporary directory that `stop` removes. */
  readonly dir?: string;
  /** The directory of another version, which runs until a server is restarted. */
  readonly firstRoot?: string | undefined;
}

export interface ClusterOptions extends StackOptions {
  readonly kafkaBrokers: string;
  readonly mongoUrl: string;
  readonly redisUrl: string;
  readonly jwtSecret: string;
  /** Default 2; a single process is one node. */
  readonly apiNodes?: number;
  /** Processes per service, named `notifier`, `notifier2` and so on; default 1. Only with the layout `services`. */
  readonly replicas?: Replicas;
  /** Default `services`. */
  readonly layout?: ClusterLayout;
  /** Differences in the configuration of single services, by name. */
  readonly serviceEnv?: Readonly<Record<string, Record<string, string>>>;
}

/**
 * How the services of a cluster are distributed over processes, each of which takes at least 1 s of CPU time to start.
 * `services`: one process per service and API node. `nodes`: one process per API node, and `workers` for the rest.
 * `single`: `tocsin` for all.
 */
export type ClusterLayout = 'services' | 'nodes' | 'single';

const workerServices = ['fanout', 'notifier', 'retention'];

/**
 * In MB. Node starts with 1 MB and increases it only while many objects survive. With 16, a publish takes 6 % less CPU
 * time.
 */
const youngGeneration = ['--min-semi-space-size=16'];

/** Node options by server; `tocsin` is a process of `tocsin serve`. */
export const nodeFlags: Readonly<Record<string, readonly string[]>> = {
  tocsin: youngGeneration,
  api: youngGeneration,
  notifier: ['--max-semi-space-size=32', '--max-old-space-size=512'],
};

const argsOf = (server: string, ...args: readonly string[]): string[] => [...(nodeFlags[server] ?? []), ...args];

/** Starts one process on one file. */
export function startEmbeddedStack(options: StackOptions = {}): Promise<Stack> {
  const place = placeOf(options);
  const env = { DATA_DIR: join(place.dir, 'data'), ...options.env };
  return startAll('embedded', place, { all: env }, { tocsin: argsOf('tocsin', 'cli/main.ts', 'serve') });
}

/** The number of processes of services other than the API. */
export type Replicas = Readonly<Partial<Record<'fanout' | 'notifier' | 'retention', number>>>;

/** Starts a cluster on running engines; by default one process per service and two API nodes. */
export function startClusterStack(options: ClusterOptions): Promise<Stack> {
  const place = placeOf(options);
  const env = {
    DATA_DIR: join(place.dir, 'data'),
    KAFKA_BROKERS: options.kafkaBrokers,
    MONGO_URL: options.mongoUrl,
    REDIS_URL: options.redisUrl,
    JWT_SECRET: options.jwtSecret,
    ...options.env,
  };
  if (options.layout === 'single')
    return startAll('cluster', place, { all: env }, { tocsin: argsOf('tocsin', 'cli/main.ts', 'serve') });
  const api = Array.from(
    { length: options.apiNodes ?? 2 },
    (_, index) => [`api${index + 1}`, argsOf('api', 'services/api/main.ts')] as const,
  );
  if (options.layout === 'nodes') {
    const workers = ['workers', argsOf('tocsin', 'cli/main.ts', 'serve')] as const;
    return startAll(
      'cluster',
      place,
      { all: { ROLES: workerServices.join(','), ...env } },
      Object.fromEntries([...api, workers]),
    );
  }
  const more = Object.entries(options.replicas ?? {}).flatMap(([service, count]) =>
    Array.from({ length: count - 1 }, (_, index) => [`${service}${index + 2}`, service]),
  );
  const workers = [...workerServices.map((name) => [name, name]), ...more].map(
    ([name, service]) => [name!, argsOf(service!, `services/${service}/main.ts`)] as const,
  );
  const names = workers.map(([name]) => name);
  return startAll(
    'cluster',
    place,
    // Earlier versions needed the secret in all services.
    {
      all: env,
      ...(options.firstRoot === undefined ? withoutJwtSecret(names, options.serviceEnv) : options.serviceEnv),
    },
    Object.fromEntries([...api, ...workers]),
  );
}

interface Place {
  readonly dir: string;
  readonly firstRoot: string | undefined;
  remove(): void;
}

function placeOf({ dir, firstRoot }: StackOptions): Place {
  const own = dir ?? mkdtempSync(join(tmpdir(), 'tocsin-stack-'));
  mkdirSync(own, { recursive: true });
  return {
    dir: own,
    firstRoot,
    remove: () => (dir === undefined ? rmSync(own, { recursive: true, force: true }) : undefined),
  };
}

/** Only the API needs the secret, as in docker-compose.yml. An empty variable counts as not set. */
function withoutJwtSecret(
  names: readonly string[],
  serviceEnv: ClusterOptions['serviceEnv'] = {},
): Record<string, Record<string, string>> {
  return Object.fromEntries(names.map((name) => [name, { JWT_SECRET: '', ...serviceEnv[name] }]));
}

/** The configuration of all services, and differences by service. */
type Environments = { readonly all: Record<string, string> } & Readonly<Record<string, Record<string, string>>>;

async function startAll(
  engine: Stack['engine'],
  place: Place,
  env: Environments,
  programs: Record<string, readonly string[]>,
): Promise<Stack> {
  const servers = Object.entries(programs).map(
    ([name, args]) =>
      new ServerProcess({
        name,
        args,
        env: { ...env.all, ...env[name] },
        logFile: join(place.dir, `${name}.log`),
        firstRoot: place.firstRoot,
      }),
  );
  const stop = async () => {
    await Promise.all(servers.map((server) => server.stop()));
    place.remove();
  };
  await startConcurrently(
    servers.map(async (server) => {
      await server.start();
      return server;
    }),
  );
  const nodes = servers.filter(({ name }) => name.startsWith('api') || name === 'tocsin');
  return {
    engine,
    servers,
    nodes,
    env: env.all,
    stop,
    urls: nodes.map(({ url }) => url),
    apiPids: () => nodes.map(({ pid }) => pid),
    server(name) {
      const found = servers.find((one) => one.name === name);
      if (found === undefined) throw new Error(`the stack has no server ${name}`);
      return found;
    },
  };
}
