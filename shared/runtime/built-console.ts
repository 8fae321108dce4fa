import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, globSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keepBuild } from './keep-build.ts';

const source = join(import.meta.dirname, '../../console');
const built = join(source, 'dist');

/** A build takes about a second. */
const buildTimeoutMs = 120_000;

/**
 * Calls `use` with the directory of the built console and returns its result. Builds the console if its sources changed
 * since the last build. An installation without the sources, such as the image, contains a build. If the directory of
 * the program cannot be written, the build exists only until this returns. Throws if the build fails.
 */
export function withBuiltConsole<T>(use: (directory: string) => T): T {
  const existing = existsSync(join(source, 'src')) ? join(built, contentKey()) : shippedBuild();
  if (existsSync(existing)) return use(existing);
  const directory = makeBuildDirectory();
  try {
    build(directory);
    return use(kept(directory, existing));
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Changes with the content of every file that the build reads, except packages, whose versions are in package.json. */
function contentKey(): string {
  const hash = createHash('sha256');
  const files = globSync(['{src,public}/**/*.*', '*.html', 'build.ts', 'package.json'], { cwd: source });
  for (const file of files.sort())
    hash
      .update(`${file}\0`)
      .update(readFileSync(join(source, file)))
      .update('\0');
  return hash.digest('hex').slice(0, 16);
}

function shippedBuild(): string {
  const name = readdirSync(built).find((entry) => !entry.startsWith('.'));
  if (name === undefined) throw new Error('The console is not built: run `npm run build` in a full checkout');
  return join(built, name);
}

function makeBuildDirectory(): string {
  try {
    mkdirSync(built, { recursive: true });
    return mkdtempSync(join(built, '.building-'));
  } catch {
    return mkdtempSync(join(tmpdir(), 'tocsin-console-'));
  }
}

function build(directory: string): void {
  const { NODE_OPTIONS: _, ...env } = process.env;
  const { status, stderr, error } = spawnSync(process.execPath, [join(source, 'build.ts'), '--out', directory], {
    env: { ...env, NODE_ENV: 'production' },
    encoding: 'utf8',
    timeout: buildTimeoutMs,
  });
  if (status !== 0) throw new Error(`Could not build the console: ${stderr}`, { cause: error });
}

/** Returns the directory of the build: `target`, if it can be written. */
function kept(directory: string, target: string): string {
  if (!directory.startsWith(built)) return directory;
  keepBuild(directory, target);
  return target;
}
