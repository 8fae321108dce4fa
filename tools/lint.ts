import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';

// Runs the `lint:*` scripts of package.json concurrently, because each uses about one core. Prints the output of each
// when it ends. Fails if one fails.

const root = join(import.meta.dirname, '..');
const PATH = [join(root, 'node_modules/.bin'), process.env['PATH']].join(delimiter);

/** Resolves with whether the command succeeded. */
function run(name: string, command: string): Promise<boolean> {
  const child = spawn(command, {
    shell: true,
    cwd: root,
    env: { ...process.env, PATH },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      process.stdout.write(output);
      if (code !== 0) process.stdout.write(`npm run ${name} failed (exit code ${code})\n`);
      resolve(code === 0);
    });
  });
}

const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: Record<string, string> };
const checks = Object.entries(scripts).filter(([name]) => name.startsWith('lint:'));
const outcomes = await Promise.all(checks.map(([name, command]) => run(name, command)));
process.exitCode = outcomes.every(Boolean) ? 0 : 1;
