import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, open, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { storeParts, type InstallationRows, type Part, type Row } from '../../ports/installation-rows.ts';
import {
  exportFormat,
  manifestFile,
  partFile,
  secretFileMode,
  secretsFile,
  type ExportedPart,
  type Manifest,
} from './manifest.ts';
import { movedCollections } from './moved-collections.ts';
import { writePart } from './part-files.ts';
import { RowsDigest } from './rows-digest.ts';

export interface ExportOptions {
  /** Where it goes: made where it is missing, readable by its owner only. */
  readonly dir: string;
  /** The secrets that sign logins; undefined where none was made yet. */
  readonly jwtSecrets: readonly string[] | undefined;
  /** Told of what the operator has to know, and of how far it is, in lines. */
  readonly report: (line: string) => void;
}

/** The parts of an installation in the order in which they are written: topics before what lies in their partitions. */
export const exportedParts: readonly Part[] = [
  ...Object.keys(movedCollections).filter((name) => movedCollections[name] === true),
  ...storeParts,
];

/**
 * Writes all of an installation into a directory, a file for each part, in the memory of a page, and the manifest with counts and
 * checksums last. One that was cut off is begun anew by the next call. Throws where the directory has a whole export, where what is
 * read would not be whole, and when somebody wrote meanwhile.
 */
export async function exportInstallation(
  rows: InstallationRows,
  { dir, jwtSecrets, report }: ExportOptions,
): Promise<Manifest> {
  if (existsSync(join(dir, manifestFile)))
    throw new Error(`${dir} has a whole export already: name another directory, or remove it`);
  const { obstacles, notes } = await rows.state();
  if (obstacles.length > 0) throw new Error(`The export would not be whole: ${obstacles.join('; ')}`);
  for (const note of notes) report(`Note: ${note}.`);
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const ends = await rows.ends();
  const parts: ExportedPart[] = [];
  for (const name of exportedParts) {
    const digest = new RowsDigest();
    const written = await writePart(join(dir, partFile(name)), summed(rows.rows(name), digest));
    parts.push({ name, ...digest.sum, ...written });
    report(`${name}: ${digest.sum.rows}`);
  }
  if (String(await rows.ends()) !== String(ends))
    throw new Error('Something was published while it was exported: stop every node, and export again');
  if (jwtSecrets !== undefined) await writeWhole(join(dir, secretsFile), { jwtSecrets });
  const manifest: Manifest = {
    format: exportFormat,
    id: randomUUID(),
    exportedAt: new Date().toISOString(),
    engine: rows.engine,
    ends: [...ends],
    parts,
  };
  await writeWhole(join(dir, manifestFile), manifest);
  return manifest;
}

async function* summed(pages: AsyncIterable<readonly Row[]>, digest: RowsDigest): AsyncGenerator<readonly Row[], void> {
  for await (const page of pages) {
    for (const row of page) digest.add(row);
    yield page;
  }
}

/** All of the file or nothing, whenever the process ends. */
async function writeWhole(file: string, value: object): Promise<void> {
  await writeFile(`${file}.new`, `${JSON.stringify(value, null, 2)}\n`, { mode: secretFileMode, flush: true });
  await rename(`${file}.new`, file);
  const dir = await open(join(file, '..'));
  await dir.sync().finally(() => dir.close());
}
