import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { choosePartition } from '../../domain/log/choose-partition.ts';
import { rowsPageMax, type ImportProgress, type InstallationRows, type Row } from '../../ports/installation-rows.ts';
import { exportedParts } from './export-installation.ts';
import {
  exportFormat,
  manifest,
  manifestFile,
  partFile,
  secrets,
  secretsFile,
  type ExportedPart,
  type Manifest,
  type MovedSecrets,
} from './manifest.ts';
import { fileSha256, readPart } from './part-files.ts';
import { digestPages, RowsDigest, type RowsSum } from './rows-digest.ts';
import { checkRow } from './check-row.ts';

export interface ImportOptions {
  readonly dir: string;
  /** Makes the installation use the secrets of the export; throws if it is configured with others. */
  readonly adoptSecrets: (exported: MovedSecrets) => Promise<void>;
  readonly report: (line: string) => void;
}

/** Rows between progress updates. After a kill, at most this many rows are written again, which has no effect. */
const rowsPerProgressUpdate = 5_000;

/** Reads the manifest of a complete export. Throws an error for the operator otherwise. */
async function readManifest(dir: string): Promise<Manifest> {
  const file = join(dir, manifestFile);
  if (!existsSync(file))
    throw new Error(`${dir} contains no complete export: ${manifestFile} is missing, which is written last`);
  const value: unknown = JSON.parse(await readFile(file, 'utf8'));
  const format = (value as { format?: unknown } | null)?.format;
  if (format !== exportFormat)
    throw new Error(
      `${file} has format ${String(format)}, but this version reads ${exportFormat}: import it with the version that exported it, or a newer one`,
    );
  const parsed = manifest.safeParse(value);
  if (!parsed.success) throw new Error(`${file} is not a valid manifest: ${z.prettifyError(parsed.error)}`);
  const unknown = parsed.data.parts.filter(({ name }) => !exportedParts.includes(name)).map(({ name }) => name);
  if (unknown.length > 0) throw new Error(`${file} contains unknown parts: ${unknown.join(', ')}`);
  return parsed.data;
}

/** Reads the secrets of the exported installation; undefined if the export has none. */
async function readSecrets(dir: string): Promise<MovedSecrets | undefined> {
  const file = join(dir, secretsFile);
  return existsSync(file) ? secrets.parse(JSON.parse(await readFile(file, 'utf8'))) : undefined;
}

/**
 * Imports an export into an empty installation: checks the files against the manifest, writes the rows, reads them
 * back, compares count and checksum, sets the bases above every offset, and lets servers open the installation. Resumes
 * after a kill. Throws if the installation is not empty or has another unfinished import.
 */
export async function importInstallation(
  rows: InstallationRows,
  { dir, adoptSecrets, report }: ImportOptions,
): Promise<Manifest> {
  const exported = await readManifest(dir);
  const { id, parts, ends } = exported;
  await checkFiles(dir, parts);
  const known = await rows.importProgress();
  if (known !== null && known.exportId !== id)
    throw new Error(
      'Another import into this installation is unfinished: run it again, or start with an empty installation',
    );
  if (known === null) await requireEmpty(rows);
  const adapt = adapterFor(rows, exported);
  const exportedSecrets = await readSecrets(dir);
  if (exportedSecrets !== undefined) await adoptSecrets(exportedSecrets);
  let place = known ?? { exportId: id, written: {} };
  await rows.saveImportProgress(place);
  const expected = new Map<string, RowsSum>();
  for (const name of exportedParts) {
    const part = parts.find((one) => one.name === name);
    if (part === undefined) continue;
    const written = await writeRows({ rows, dir, report, adapt }, part, place);
    expected.set(name, written.sum);
    place = written.place;
  }
  for (const [name, sum] of expected) await verify({ rows, report }, name, sum);
  report('Verified: counts and checksums of all parts.');
  await rows.finishImport(ends);
  return exported;
}

async function checkFiles(dir: string, parts: readonly ExportedPart[]): Promise<void> {
  for (const { name, sha256 } of parts) {
    const file = join(dir, partFile(name));
    if (!existsSync(file)) throw new Error(`${file} is missing`);
    if ((await fileSha256(file)) !== sha256)
      throw new Error(`${file} differs from the export: its SHA-256 does not match. Copy it again`);
  }
}

async function requireEmpty(rows: InstallationRows): Promise<void> {
  const ends = await rows.ends();
  const nonEmptyParts = ends.some((end) => end > 0) ? ['log'] : [];
  for (const name of exportedParts) {
    for await (const page of rows.rows(name)) {
      if (page.length > 0) nonEmptyParts.push(name);
      break;
    }
  }
  if (nonEmptyParts.length > 0)
    throw new Error(
      `The installation is not empty (${nonEmptyParts.join(', ')}): import into one on which no server was started`,
    );
}

type Adapt = (part: string, row: Row) => Row;

/** Returns a function that adapts the partitions of topics to the target, which may have more of them. */
function adapterFor({ partitions }: InstallationRows, { ends }: Manifest): Adapt {
  if (partitions > 1 && ends.length > partitions) {
    throw new Error(
      `The exported log has ${ends.length} partitions, this one has ${partitions}: create it with KAFKA_PARTITIONS=${ends.length} or more`,
    );
  }
  const keepsPartitions = ends.length > 1 && partitions > 1;
  return (part, row) =>
    part !== 'topics' || keepsPartitions
      ? row
      : { ...row, partition: choosePartition((row as { id: string }).id, partitions) };
}

interface Writing extends Pick<ImportOptions, 'dir' | 'report'> {
  readonly rows: InstallationRows;
  readonly adapt: Adapt;
}

/** Writes the missing rows and computes the expected digest. */
async function writeRows(
  { rows, dir, report, adapt }: Writing,
  part: ExportedPart,
  progress: ImportProgress,
): Promise<{ sum: RowsSum; place: ImportProgress }> {
  const { name } = part;
  const [read, adapted] = [new RowsDigest(), new RowsDigest()];
  let place = progress;
  const saveProgress = async () => {
    place = { ...place, written: { ...place.written, [name]: read.sum.rows } };
    await rows.saveImportProgress(place);
    report(`${name}: ${read.sum.rows} of ${part.rows}`);
  };
  for await (const page of readPart(join(dir, partFile(name)), rowsPageMax)) {
    const toWrite = page.map((row) => adapt(name, row));
    for (const [at, row] of page.entries()) {
      checkRow(name, row);
      read.add(row);
      adapted.add(toWrite[at]!);
    }
    if (read.sum.rows <= (progress.written[name] ?? 0)) continue;
    await rows.write(name, toWrite);
    if (read.sum.rows % rowsPerProgressUpdate === 0) await saveProgress();
  }
  if (read.sum.rows !== part.rows || read.sum.digest !== part.digest)
    throw new Error(`${name} has ${read.sum.rows} rows that differ from the ${part.rows} of the manifest`);
  if (read.sum.rows > (progress.written[name] ?? 0)) await saveProgress();
  return { sum: adapted.sum, place };
}

async function verify(
  { rows, report }: Pick<Writing, 'rows' | 'report'>,
  name: string,
  expected: RowsSum,
): Promise<void> {
  const found = new RowsDigest();
  const onProgress = (count: number) => report(`${name}: verified ${count} of ${expected.rows}`);
  const pages = digestPages(rows.rows(name), found, onProgress);
  while ((await pages.next()).done !== true);
  const { sum } = found;
  if (sum.rows === expected.rows && sum.digest === expected.digest) return;
  throw new Error(
    `${name}: read back ${sum.rows} of ${expected.rows} rows${sum.rows === expected.rows ? ', and some differ from the written ones' : ''}. ` +
      'Another program writes to this installation: start with an empty one',
  );
}
