import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Runs a generator in a separate process to its end. Resolves with its parsed output. */
export async function runGenerator<R>(
  file: string,
  load: object,
  options: { secondsMax: number; env?: Record<string, string> },
): Promise<R> {
  const { stdout } = await run(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', join(import.meta.dirname, file), JSON.stringify(load)],
    {
      timeout: options.secondsMax * 1_000,
      killSignal: 'SIGKILL',
      maxBuffer: 1024 * 1024,
      env: { PATH: process.env['PATH'], ...options.env },
    },
  );
  return JSON.parse(stdout) as R;
}
