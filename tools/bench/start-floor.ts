import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { join } from 'node:path';
import { nodeFlags } from '../stack/start-stack.ts';
import type { Target } from './target.ts';

const startMsMax = 30_000;
/** KafkaJS causes the warning. The others are those of Tocsin's API. */
const floorFlags = ['--disable-warning=TimeoutNegativeWarning', ...nodeFlags['api']!];

/**
 * Starts a server that Tocsin is compared with. Throws if it does not report its port in time.
 *
 * @param argument JSON for the server's first argument
 * @param engines pids of the engines that it uses, by name
 */
export async function startFloor(
  name: string,
  file: 'bare-server.ts' | 'bare-broadcaster.ts' | 'express-server.ts' | 'cluster-floor.ts',
  { argument = {}, engines = {} }: { argument?: object; engines?: Readonly<Record<string, number>> } = {},
): Promise<Target> {
  const child = spawn(process.execPath, [...floorFlags, join(import.meta.dirname, file), JSON.stringify(argument)], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { PATH: process.env['PATH'], NODE_ENV: 'production', KAFKAJS_NO_PARTITIONER_WARNING: '1' },
  });
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  };
  try {
    const [line] = (await once(createInterface({ input: child.stdout }), 'line', {
      signal: AbortSignal.timeout(startMsMax),
    })) as [string];
    const ports = [Number(line)];
    return {
      name,
      ports,
      serverPids: [child.pid!],
      enginePids: Object.values(engines),
      pids: { [name]: child.pid!, ...engines },
      stop,
    };
  } catch (cause) {
    await stop();
    throw new Error(`${file} did not start`, { cause });
  }
}
