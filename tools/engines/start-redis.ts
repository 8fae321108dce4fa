import { connect } from 'node:net';
import { connect as connectByTls } from 'node:tls';
import type { Engine, EngineOptions } from './engine.ts';
import { engineState, startEngineProcess } from './engine-process.ts';
import { endOrphans } from './engine-records.ts';
import { startOnFreePorts } from './free-ports.ts';
import { installRedis } from './install-redis.ts';
import { reportProgress } from './report-progress.ts';

/** Settings of a server with TLS and authentication. */
export type RedisSecurity = {
  args?: (tlsPort: number) => readonly string[];
  urlOf?: (address: string) => string;
  /** The certificate that clients must trust, in PEM. */
  ca?: string;
};

/**
 * Starts Redis on 127.0.0.1 as jobs require: append-only file synced every second, no eviction.
 * Resolves when it responds to PING. Installs Redis if it is missing.
 */
export const startRedis = async (options: EngineOptions & RedisSecurity = {}): Promise<Engine> => {
  await endOrphans();
  const { file, env } = await installRedis(options.report ?? reportProgress);
  return startOnFreePorts(1, async ([freePort]) => {
    const port = options.port ?? freePort!;
    const state = engineState('redis', options);
    return startEngineProcess(
      {
        name: 'redis',
        url: options.urlOf?.(`127.0.0.1:${port}`) ?? `redis://127.0.0.1:${port}`,
        file,
        env,
        args: [...redisArgs(options.args === undefined ? port : 0, state.dir), ...(options.args?.(port) ?? [])],
        readyLine: 'Ready to accept connections',
        answers: () => answersPing(port, options.ca),
      },
      state,
    );
  });
};

const redisArgs = (port: number, dir: string) => [
  ...['--port', String(port), '--bind', '127.0.0.1', '--dir', dir, '--daemonize', 'no'],
  ...['--save', '', '--appendonly', 'yes', '--appendfsync', 'everysec', '--maxmemory-policy', 'noeviction'],
];

/**
 * Redis responds with `-LOADING` while it loads its append-only file, and with `-NOAUTH` if it requires authentication.
 */
const answersPing = (port: number, ca?: string): Promise<boolean> =>
  new Promise((resolve, reject) => {
    const at = { port, host: '127.0.0.1', timeout: 1_000 };
    const socket = ca === undefined ? connect(at) : connectByTls({ ...at, ca });
    socket.once(ca === undefined ? 'connect' : 'secureConnect', () => socket.write('PING\r\n'));
    socket.once('data', (reply) => {
      socket.destroy();
      resolve(reply.toString().startsWith(ca === undefined ? '+PONG' : '-NOAUTH'));
    });
    socket.once('error', reject);
    socket.once('timeout', () => socket.destroy(new Error('no response to PING')));
  });
