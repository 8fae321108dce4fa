import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Line } from './ledger.ts';

const root = join(import.meta.dirname, '../..');

/** Real text: the lines of this project's source, documents and lockfile without blank lines. */
function sourceLines(): string[] {
  const files = ['package-lock.json', 'README.md', 'shared', 'services', 'docs', 'tools', 'tests'].flatMap((name) =>
    filesOf(join(root, name)),
  );
  return files
    .flatMap((file) => readFileSync(file, 'utf8').split('\n'))
    .filter((line) => line.trim() !== '' && line.length <= 4_000);
}

function filesOf(path: string): string[] {
  try {
    return readdirSync(path, { recursive: true, withFileTypes: true })
      .filter(
        (entry) =>
          entry.isFile() && /\.(ts|md|json|sql)$/.test(entry.name) && !entry.parentPath.includes('node_modules'),
      )
      .map((entry) => join(entry.parentPath, entry.name))
      .sort();
  } catch {
    return [path];
  }
}

/** `count` real lines, distributed over publishers and topics. Every tenth is urgent. */
export function realLines(count: number, of: { publishers: number; topics: readonly string[] }): Line[] {
  const source = sourceLines();
  return Array.from({ length: count }, (_, index) => ({
    publisher: `publisher-${index % of.publishers}`,
    n: Math.floor(index / of.publishers),
    topic: of.topics[Math.floor(index / of.publishers + index) % of.topics.length]!,
    text: source[index % source.length]!,
    priority: index % 10 === 0 ? 5 : 3,
  }));
}
