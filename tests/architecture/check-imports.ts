import { matchesGlob } from 'node:path/posix';
import { boundaries, ownedPackages, type Boundary } from './boundaries.ts';
import type { Import } from './read-imports.ts';

const testSuffix = /\.(test|contract|fixtures?|place|child|child-process)\.ts$/;
const testFolders = ['tests', 'tools', 'shared/testing', 'shared/contracts', 'simulators'];

/** Whether the file serves tests (or development) alone. */
export const isTestCode = (file: string): boolean =>
  testSuffix.test(file) || testFolders.some((folder) => covers(folder, file) !== null);

/** What the import breaks, as a sentence for whoever wrote it, or null. */
export function checkImport(imported: Import): string | null {
  const row = rowOf(imported.from);
  if (row === undefined)
    return `${imported.from} is in no row of tests/architecture/boundaries.ts: give its folder one`;
  const { from, file } = imported;
  if (file === null) return checkPackage(imported, row);
  if (
    isTestCode(file) &&
    !isTestCode(from) &&
    !row.mayImport.some((entry) => isTestCode(`${entry}/`) && covers(entry, file) !== null)
  )
    return `${from} imports ${file}: only tests may import test code, and rows that name it`;
  if (isOfOneKind(from, file, row) || isAllowed(file, row.mayImport)) return null;
  // Tests also see all that is shared, and run whole programs as processes.
  if (isTestCode(from) && (imported.isStarted || isAllowed(file, ['shared', '!shared/drivers', 'simulators'])))
    return null;
  return `${from} imports ${file}: ${row.of} may import ${row.mayImport.join(', ') || 'nothing'}`;
}

function checkPackage({ from, package: name }: Import, row: Boundary): string | null {
  if (ownedPackages.includes(name!)) {
    return row.packages?.includes(name!) === true
      ? null
      : `${from} imports ${name}: only the rows that list it may name it`;
  }
  return row.packages === 'none' && !isTestCode(from)
    ? `${from} imports ${name}: ${row.of} may import no package`
    : null;
}

/** Import cycles, each as its members in the order of the alphabet. `nodeOf` says what imports what: files, or folders. */
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

/** The folder of a file, as far as cycles go: files with a row of their own are apart from the folder that they stand in. */
export function folderOf(file: string): string {
  const row = rowOf(file);
  return row !== undefined && row.of.includes('{') ? row.of : file.slice(0, file.lastIndexOf('/'));
}

/** The row that a file is judged by. */
export function rowOf(file: string): Boundary | undefined {
  return boundaries.findLast(({ of }) => covers(of, file) !== null);
}

/** Both under the row, and where the row stands for several folders, in the same one. */
function isOfOneKind(from: string, file: string, row: Boundary): boolean {
  return rowOf(file) === row && covers(row.of, from) === covers(row.of, file);
}

function isAllowed(file: string, entries: readonly string[]): boolean {
  const last = entries.findLast((entry) => {
    const pattern = entry.replace('!', '');
    // Files are open by their row: `folder/*.ts` leaves out those beside them that have another one.
    return isOfFiles(pattern) ? rowOf(file)?.of === pattern : covers(pattern, file) !== null;
  });
  return last !== undefined && !last.startsWith('!');
}

const isOfFiles = (pattern: string): boolean => pattern.endsWith('.ts');

/** The folder that the pattern stands for here, or the pattern itself where it is one of files; null if the file is elsewhere. */
function covers(pattern: string, file: string): string | null {
  if (isOfFiles(pattern)) return matchesGlob(file, pattern) ? pattern : null;
  const folder = file.split('/').slice(0, pattern.split('/').length).join('/');
  return folder !== file && matchesGlob(folder, pattern) ? folder : null;
}
