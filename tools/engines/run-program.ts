import { spawn } from 'node:child_process';

/** Enough of a failed program's output to see why. */
const outputCharsMax = 4_000;

/** Runs a program to its end and returns what it printed on stdout; throws with the end of its output when it fails. */
export const runProgram = (
  file: string,
  args: string[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv } = {},
): Promise<string> =>
  new Promise((resolve, reject) => {
    const child = spawn(file, args, {
      ...options,
      env: { ...process.env, ...options.env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let stdout = '';
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => (output = (output + chunk.toString()).slice(-outputCharsMax)));
    }
    child.once('error', (cause) => reject(new Error(`${file} cannot be run`, { cause })));
    child.once('close', (code) =>
      code === 0 ? resolve(stdout) : reject(new Error(`${file} ${args.join(' ')} failed (${code}):\n${output}`)),
    );
  });
