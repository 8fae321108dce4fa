import { spawn } from 'node:child_process';

/** Length of the reported output of a failed program. */
const outputCharsMax = 4_000;

/** Runs a program and returns its standard output. Throws with the end of its output if it fails. */
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
