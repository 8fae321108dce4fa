import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

/** Runs module code in a separate process to its end, and resolves with its output lines. */
export async function linesOfProcess(code: string): Promise<string[]> {
  const child = spawn(process.execPath, ['--input-type=module', '-'], { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.end(code);
  const exited = new Promise<number | null>((resolve) => child.once('close', resolve));
  const lines: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) lines.push(line);
  const exitCode = await exited;
  if (exitCode !== 0) throw new Error(`the process ended with ${exitCode}`);
  return lines;
}
