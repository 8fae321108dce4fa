import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';

/** Asks on the terminal for a line; `isSecret` hides the input. Throws if standard input is not a terminal. */
export async function prompt(question: string, { isSecret = false, instead = '' } = {}): Promise<string> {
  if (!process.stdin.isTTY) throw new Error(`Standard input is not a terminal: give ${instead}`);
  process.stderr.write(`${question}: `);
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: isSecret ? silent : process.stderr, terminal: true });
  try {
    return await lines.question('');
  } finally {
    lines.close();
    if (isSecret) process.stderr.write('\n');
  }
}
