import path from 'node:path/posix';
import ts from 'typescript';

/** One import of one file. Paths are relative to the root of the repository. */
export interface Import {
  readonly from: string;
  /** The imported file, or null for a package. */
  readonly file: string | null;
  /** The package's name (`node:fs`, `@scope/name`), or null for a file of ours. */
  readonly package: string | null;
  /** Whether the file is referenced by URL, to run in a separate thread or process. */
  readonly isStarted: boolean;
}

const startedModule = /new URL\(\s*(['"])(?<specifier>[^'"]+\.ts)\1\s*,\s*import\.meta\.url/g;

/**
 * Returns every import of the source: `import` and `export … from`, including types, `import('…')`, and files
 * in `new URL('….ts', import.meta.url)`. `workspaces` maps the names of our packages to their folders. Relative
 * imports contain the full file name and workspaces export files by path, so no module resolution is needed.
 */
export function readImports(from: string, source: string, workspaces: ReadonlyMap<string, string>): Import[] {
  const imported = ts.preProcessFile(source, true, true).importedFiles.map(({ fileName }) => importOf(fileName, false));
  return [
    ...imported,
    ...[...source.matchAll(startedModule)].map((match) => importOf(match.groups!['specifier']!, true)),
  ];

  function importOf(specifier: string, isStarted: boolean): Import {
    const file = fileOf(from, specifier, workspaces);
    return { from, file, package: file === null ? packageOf(specifier) : null, isStarted };
  }
}

function fileOf(from: string, specifier: string, workspaces: ReadonlyMap<string, string>): string | null {
  // Vite reads a file as text if its name ends with `?inline`.
  if (specifier.startsWith('.')) return path.join(path.dirname(from), specifier.replace(/\?inline$/, ''));
  const name = packageOf(specifier);
  const folder = workspaces.get(name);
  if (folder === undefined) return null;
  // The package for others has one entry.
  return path.join(folder, specifier === name ? 'src/index.ts' : specifier.slice(name.length + 1));
}

function packageOf(specifier: string): string {
  const parts = specifier.split('/');
  return specifier.startsWith('@') ? parts.slice(0, 2).join('/') : parts[0]!;
}
