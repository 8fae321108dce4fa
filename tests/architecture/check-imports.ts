import { matchesGlob } from 'node:path/posix';
import { boundaries, ownedPackages, type Boundary } from './boundaries.ts';
import type { Import } from './read-imports.ts';

const testSuffix = /\.(test|contract|fixtures|place|child|child-process)\.ts$/;
const testFolders = ['tests', 'tools', 'shared/testing', 'shared/contracts', 'simulators'];

/** Whether the file is used only for tests or development. */
export const isTestCode = (file: string): boolean =>
  testSuffix.test(file) || testFolders.some((folder) => covers(folder, file) !== null);

/** Returns the broken rule as a sentence, or null if the import is allowed. */
export function checkImport(imported: Import): string | null {
  const row = rowOf(imported.from);
  if (row === undefined)
    return `${imported.from} has no row in tests/architecture/boundaries.ts: add one for its folder`;
  const { from, file } = imported;
  if (file === null) return checkPackage(imported, row);
  if (
    isTestCode(file) &&
    !isTestCode(from) &&
    !row.mayImport.some((entry) => isTestCode(`${entry}/`) && covers(entry, file) !== null)
  )
    return `${from} imports ${file}: only tests and rows that name its folder may import test code`;
  if (isOfOneKind(from, file, row) || isAllowed(file, row.mayImport)) return null;
  // Tests may also import everything in `shared` except the drivers, and start programs as processes.
  if (isTestCode(from) && (imported.isStarted || isAllowed(file, ['shared', '!shared/drivers', 'simulators'])))
    return null;
  return `${from} imports ${file}: ${row.of} may import ${row.mayImport.join(', ') || 'nothing'}`;
}

function checkPackage({ from, package: name }: Import, row: Boundary): string | null {
  if (ownedPackages.includes(name!)) {
    return row.packages?.includes(name!) === true
      ? null
      : `${from} imports ${name}: only rows that list the package may import it`;
  }
  return row.packages === 'none' && !isTestCode(from)
    ? `${from} imports ${name}: ${row.of} may not import packages`
    : null;
}

/**
 * Returns the import cycles, each as its sorted members. `nodeOf` maps a file to the node of the graph: the file or its
 * folder.
 */
export function findCycles(imports: readonly Import[], nodeOf: (file: string) => string): string[][] {
  const targets = new Map<string, Set<string>>();
  for (const { from, file } of imports) {
    if (file === null || nodeOf(from) === nodeOf(file)) continue;
    targets.set(nodeOf(from), (targets.get(nodeOf(from)) ?? new Set()).add(nodeOf(file)));
  }
  const reachable = new Map([...targets.keys()].map((node) => [node, reachableFrom(node, targets)]));
  const cycles = [...targets.keys()]
    .filter((node) => reachable.get(node)!.has(node))
    .map((node) => [...reachable.get(node)!].filter((other) => reachable.get(other)?.has(node)).sort());
  return [...new Map(cycles.map((cycle) => [cycle.join(), cycle])).values()];
}

function reachableFrom(start: string, targets: ReadonlyMap<string, ReadonlySet<string>>): Set<string> {
  const seen = new Set<string>();
  const toVisit = [...(targets.get(start) ?? [])];
  for (let node = toVisit.pop(); node !== undefined; node = toVisit.pop()) {
    if (seen.has(node)) continue;
    seen.add(node);
    toVisit.push(...(targets.get(node) ?? []));
  }
  return seen;
}

/** The folder of a file for cycles. Files with a separate row do not count as part of their folder. */
export function folderOf(file: string): string {
  const row = rowOf(file);
  return row !== undefined && row.of.includes('{') ? row.of : file.slice(0, file.lastIndexOf('/'));
}

/** Returns the row that applies to a file. */
export function rowOf(file: string): Boundary | undefined {
  return boundaries.findLast(({ of }) => covers(of, file) !== null);
}

/** Whether both files match the row and, if the row matches several folders, are in the same folder. */
function isOfOneKind(from: string, file: string, row: Boundary): boolean {
  return rowOf(file) === row && covers(row.of, from) === covers(row.of, file);
}

function isAllowed(file: string, entries: readonly string[]): boolean {
  const last = entries.findLast((entry) => {
    const pattern = entry.replace('!', '');
    // An entry for files allows only files with that row: `folder/*.ts` excludes files in the folder that have another
    // row.
    return isOfFiles(pattern) ? rowOf(file)?.of === pattern : covers(pattern, file) !== null;
  });
  return last !== undefined && !last.startsWith('!');
}

const isOfFiles = (pattern: string): boolean => pattern.endsWith('.ts');

/**
 * Returns the folder that the pattern matches, or the pattern itself if it matches files; null if the file does not
 * match.
 */
function covers(pattern: string, file: string): string | null {
  if (isOfFiles(pattern)) return matchesGlob(file, pattern) ? pattern : null;
  const folder = file.split('/').slice(0, pattern.split('/').length).join('/');
  return folder !== file && matchesGlob(folder, pattern) ? folder : null;
}
