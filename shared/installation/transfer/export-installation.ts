import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeWholeFile } from '../../platform/write-whole-file.ts';
import { storeParts, type InstallationRows, type Part } from '../../ports/installation-rows.ts';
import {
  exportFormat,
  manifestFile,
  partFile,
  secretsFile,
  type ExportedPart,
  type Manifest,
  type MovedSecrets,
} from './manifest.ts';
import { movedCollections } from './moved-collections.ts';
import { writePart } from './part-files.ts';
import { digestPages, RowsDigest } from './rows-digest.ts';

export interface ExportOptions {
  /** The target directory; created if missing, readable by its owner only. */
  readonly dir: string;
  /** Undefined if none were generated yet. */
  readonly secrets: MovedSecrets | undefined;
  /** Called with warnings and progress lines for the operator. */
  readonly report: (line: string) => void;
}

/** The parts of an installation in write order: topics first, because later rows need their partitions. */
export const exportedParts: readonly Part[] = [
  ...Object.keys(movedCollections).filter((name) => movedCollections[name] === true),
  ...storeParts,
];

/**
 * Exports an installation to a directory: one file per part, and finally the manifest with counts and checksums. An
 * interrupted export starts again with the next call. Throws if the directory contains a complete export, if the export
 * would be incomplete, or if messages were published during the export.
 */
export async function exportInstallation(
  rows: InstallationRows,
  { dir, secrets, report }: ExportOptions,
): Promise<Manifest> {
  if (existsSync(join(dir, manifestFile)))
    throw new Error(`${dir} already contains a complete export: name another directory, or remove it`);
  const { blockers, notes } = await rows.state();
  if (blockers.length > 0) throw new Error(`The export would be incomplete: ${blockers.join('; ')}`);
  for (const note of notes) report(`Note: ${note}.`);
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const ends = await rows.ends();
  const parts: ExportedPart[] = [];
  for (const name of exportedParts) {
    const digest = new RowsDigest();
    const pages = digestPages(rows.rows(name), digest, (count) => report(`${name}: ${count}`));
    const written = await writePart(join(dir, partFile(name)), pages);
    parts.push({ name, ...digest.sum, ...written });
    report(`${name}: ${digest.sum.rows}`);
  }
  if (String(await rows.ends()) !== String(ends))
    throw new Error('Messages were published during the export: stop all nodes and export again');
  if (secrets !== undefined) await writeJson(join(dir, secretsFile), secrets);
  const manifest: Manifest = {
    format: exportFormat,
    id: randomUUID(),
    exportedAt: new Date().toISOString(),
    engine: rows.engine,
    ends: [...ends],
    parts,
  };
  await writeJson(join(dir, manifestFile), manifest);
  return manifest;
}

async function writeJson(file: string, value: object): Promise<void> {
  await writeWholeFile(file, (partial) => writeFile(partial, `${JSON.stringify(value, null, 2)}\n`), {
    mayReplace: true,
  });
}
