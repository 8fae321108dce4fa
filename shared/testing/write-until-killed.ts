import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { write, type Documents } from '../ports/documents.ts';
import { lefts, newThing, rights, things } from './thing.ts';

/** Concurrent writers, so that the kill can interrupt a group commit. */
const writers = 8;

/** Runs in the process that the test kills: writes until it dies, and prints the IDs of acknowledged writes. */
export async function writeForever(documents: Documents): Promise<never> {
  await Promise.all(
    Array.from({ length: writers }, async (_, writer) => {
      for (let turn = 0; ; turn++) {
        const id = `${writer}-${turn}`;
        await documents.insert(things, newThing(id, { email: id }));
        await documents.commit([write.insert(lefts, { id, pairOf: id }), write.insert(rights, { id, pairOf: id })]);
        process.stdout.write(`${id}\n`);
      }
    }),
  );
  throw new Error('the writers ended');
}

/**
 * Runs module code in a separate process, kills it with SIGKILL after this many lines of output, and resolves with
 * the lines. Rejects if it exits before.
 */
export async function killAfterLines(code: string, linesMin: number): Promise<string[]> {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = new Promise<NodeJS.Signals | null>((resolve) => child.once('close', (_, signal) => resolve(signal)));
  const lines: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(line);
    if (lines.length === linesMin) child.kill('SIGKILL');
  }
  if ((await exited) !== 'SIGKILL') throw new Error(`the process exited after ${lines.length} lines`);
  return lines;
}
