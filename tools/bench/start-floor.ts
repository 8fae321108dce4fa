import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { join } from 'node:path';
import type { Target } from './target.ts';

const startMsMax = 30_000;

/** Starts a server that Tocsin is compared with. Throws if it does not report its port in time. */
export async function startFloor(
  name: string,
  file: 'bare-server.ts' | 'bare-broadcaster.ts' | 'express-server.ts',
): Promise<Target> {
  const child = spawn(process.execPath, [join(import.meta.dirname, file)], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { PATH: process.env['PATH'], NODE_ENV: 'production' },
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
    return { name, ports: [Number(line)], serverPids: [child.pid!], enginePids: [], stop };
  } catch (cause) {
    await stop();
    throw new Error(`${file} did not start`, { cause });
  }
}
