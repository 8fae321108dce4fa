import { connect } from 'node:net';
import type { Engine, EngineOptions } from './engine.ts';
import { engineState, startEngineProcess } from './engine-process.ts';
import { endOrphans } from './engine-records.ts';
import { startOnFreePorts } from './free-ports.ts';
import { installRedis } from './install-redis.ts';
import { reportProgress } from './report-progress.ts';

/**
 * Starts Redis on 127.0.0.1 with what jobs need: an append-only file that is synced every second, and no eviction.
 * Returns when it answers PING. Installs it first where it is missing.
 */
export const startRedis = async (options: EngineOptions = {}): Promise<Engine> => {
  await endOrphans();
  const { file, env } = await installRedis(options.report ?? reportProgress);
  return startOnFreePorts(1, async ([freePort]) => {
    const port = options.port ?? freePort!;
    const state = engineState('redis', options);
    return startEngineProcess(
      {
        name: 'redis',
        url: `redis://127.0.0.1:${port}`,
        file,
        env,
        args: redisArgs(port, state.dir),
        readyLine: 'Ready to accept connections',
        answers: () => answersPing(port),
      },
      state,
    );
  });
};

const redisArgs = (port: number, dir: string) => [
  ...['--port', String(port), '--bind', '127.0.0.1', '--dir', dir, '--daemonize', 'no'],
  ...['--save', '', '--appendonly', 'yes', '--appendfsync', 'everysec', '--maxmemory-policy', 'noeviction'],
];

/** While it reads its append-only file it answers `-LOADING`. */
const answersPing = (port: number): Promise<boolean> =>
  new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', timeout: 1_000 });
    socket.once('connect', () => socket.write('PING\r\n'));
    socket.once('data', (reply) => {
      socket.destroy();
      resolve(reply.toString().startsWith('+PONG'));
    });
    socket.once('error', reject);
    socket.once('timeout', () => socket.destroy(new Error('no answer to PING')));
  });
